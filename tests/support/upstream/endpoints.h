// The responses of the fake server: its endpoints, errors in the form of each dialect, and faults.
#pragma once

#include <string>
#include <string_view>

#include "support/upstream/behaviour.h"
#include "support/upstream/fake_upstream.h"
#include "support/upstream/messages.h"

namespace stoka::testing {

// One request and its behaviour. The objects that it refers to must outlive it.
struct Context {
  const FakeRequest& request;
  const Behaviour& behaviour;
  const FakeOptions& options;

  const std::string& dialect() const {
    return behaviour.dialect.empty() ? options.dialect : behaviour.dialect;
  }
  const std::string& model() const {
    return behaviour.model.empty() ? options.model : behaviour.model;
  }
  // Whether the endpoint is one of TEI, whose errors have TEI's form in every dialect.
  bool tei() const;
  bool fault(std::string_view name) const { return behaviour.fault == name; }
  size_t after() const { return behaviour.after.value_or(3); }  // in texts of a stream
};

FakeResponse respond(const FakeRequest& request, const Behaviour& behaviour,
                     const FakeOptions& options);

FakeResponse embed(const Context& context);
FakeResponse rerank(const Context& context);
FakeResponse chat(const Context& context);
FakeResponse completion(const Context& context);

// An error in the form of the dialect, or of TEI.
FakeResponse error(const Context& context, int status, const std::string& message);
nlohmann::json error_object(const std::string& dialect, int status, const std::string& message);

// Applies faults of HTTP and of whole bodies. The endpoints apply the others.
void apply_fault(const Context& context, FakeResponse& response);

}  // namespace stoka::testing
