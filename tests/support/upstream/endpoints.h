// What the fake server answers: endpoints by what they serve, errors in each dialect's shape, and
// faults laid over the answer.
#pragma once

#include <string>
#include <string_view>

#include "support/upstream/answer.h"
#include "support/upstream/behaviour.h"
#include "support/upstream/fake_upstream.h"

namespace stoka::testing {

// Of one request; what it refers to outlives it.
struct Context {
  const Ask& ask;
  const Behaviour& behaviour;
  const FakeOptions& options;

  const std::string& dialect() const {
    return behaviour.dialect.empty() ? options.dialect : behaviour.dialect;
  }
  const std::string& model() const {
    return behaviour.model.empty() ? options.model : behaviour.model;
  }
  // TEI's own endpoints, which have TEI's errors whatever the dialect.
  bool tei() const;
  bool fault(std::string_view name) const { return behaviour.fault == name; }
  size_t after() const { return behaviour.after.value_or(3); }  // texts of a stream
};

Answer respond(const Ask& ask, const Behaviour& behaviour, const FakeOptions& options);

Answer embed(const Context& context);
Answer rerank(const Context& context);
Answer chat(const Context& context);
Answer completion(const Context& context);

// In the shape of the dialect, or of TEI.
Answer error(const Context& context, int status, const std::string& message);
nlohmann::json error_object(const std::string& dialect, int status, const std::string& message);

// Lays faults of HTTP and of bodies over an answer; others were seen to by who made it.
void apply_fault(const Context& context, Answer& answer);

}  // namespace stoka::testing
