#include "serve/scripted_generator.h"

#include <mutex>
#include <utility>

#include "net/event_loop.h"
#include "support/eventually.h"

namespace stoka::testing {

struct ScriptedGenerator::State {
  std::mutex mutex;
  net::EventLoop* loop = nullptr;
  generate::GenerationSink* reader = nullptr;
  size_t opened = 0, closed = 0;
  bool paused = false;
};

struct ScriptedGenerator::Writing final : generate::GenerationStream {
  explicit Writing(std::shared_ptr<State> given) : state(std::move(given)) {}
  ~Writing() override {
    const std::lock_guard lock(state->mutex);
    ++state->closed;
    if (state->reader == mine) state->reader = nullptr;
  }
  void start(net::EventLoop& loop, generate::GenerationSink& reader) override {
    mine = &reader;
    loop.defer([&reader] { reader.accepted(); });
    const std::lock_guard lock(state->mutex);
    state->loop = &loop;
    state->reader = &reader;
    ++state->opened;
  }
  void pause() override { set_paused(true); }
  void resume() override { set_paused(false); }
  void set_paused(bool paused) {
    const std::lock_guard lock(state->mutex);
    state->paused = paused;
  }
  Result<generate::FinishReason> result(std::stop_token) override {
    return generate::FinishReason::complete;
  }
  std::shared_ptr<State> state;
  generate::GenerationSink* mine = nullptr;
};

ScriptedGenerator::ScriptedGenerator() : state_(std::make_shared<State>()) {}

Result<std::unique_ptr<generate::GenerationStream>> ScriptedGenerator::begin(
    const generate::GenerationRequest&, std::stop_token) {
  return std::unique_ptr<generate::GenerationStream>(new Writing(state_));
}

bool ScriptedGenerator::say(std::string text) {
  return act([text = std::move(text)](generate::GenerationSink& reader) { reader.text(text); });
}

bool ScriptedGenerator::finish() {
  return act([](generate::GenerationSink& reader) { reader.finished(); });
}

bool ScriptedGenerator::wait_until_closed(size_t count) {
  return wait([this, count] { return state_->closed == count; });
}

bool ScriptedGenerator::wait_until_open(size_t count) {
  return wait([this, count] { return state_->opened == count; });
}

bool ScriptedGenerator::wait_until_paused() {
  return wait([this] { return state_->paused; });
}

bool ScriptedGenerator::wait_until_resumed() {
  return wait([this] { return !state_->paused; });
}

bool ScriptedGenerator::wait(const std::function<bool()>& reached) {
  return eventually([&] {
    const std::lock_guard lock(state_->mutex);
    return reached();
  });
}

bool ScriptedGenerator::act(std::function<void(generate::GenerationSink&)> what) {
  if (!wait([this] { return state_->reader != nullptr; })) return false;
  const std::lock_guard lock(state_->mutex);
  state_->loop->post([state = state_, reader = state_->reader, what = std::move(what)] {
    {
      const std::lock_guard alive(state->mutex);
      if (state->reader != reader) return;
    }
    what(*reader);
  });
  return true;
}

}  // namespace stoka::testing
