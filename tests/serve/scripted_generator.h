// A generator that writes what the test tells it to write.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "generate/generator.h"

namespace stoka::testing {

class ScriptedGenerator final : public generate::Generator {
 public:
  ScriptedGenerator();

  std::string name() const override { return "scripted"; }
  bool reads_prompt() const override { return false; }
  Result<std::unique_ptr<generate::GenerationStream>> begin(const generate::GenerationRequest&,
                                                            std::stop_token) override;

  // Acts on the latest answer, on its loop; false if none begins in time.
  bool say(std::string text);
  bool finish();
  bool wait_until_closed(size_t count);
  bool wait_until_open(size_t count);
  bool wait_until_paused();
  bool wait_until_resumed();

 private:
  struct State;
  struct Writing;
  bool wait(const std::function<bool()>& reached);  // which is called with the state locked
  bool act(std::function<void(generate::GenerationSink&)> what);

  std::shared_ptr<State> state_;
};

}  // namespace stoka::testing
