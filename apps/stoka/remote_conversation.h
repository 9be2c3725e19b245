// The REPL's conversation, held by a site behind a URL.
#pragma once

#include "serve/remote.h"
#include "terminal/conversation.h"

namespace stoka::app {

class RemoteConversation final : public terminal::Conversation {
 public:
  explicit RemoteConversation(const serve::Remote& remote) : remote_(remote) {}

  // Asks the site for its first hint, so that what is wrong is said now and not after the first
  // question.
  Result<> open();

  Result<> ask(std::string_view query, const EventSink& sink, std::stop_token stop) override;
  Result<> new_session() override;
  Result<> set_page(std::string_view url) override;
  Status status() const override { return status_; }
  std::vector<std::string> shown_slugs() const override { return shown_; }
  std::string why() const override;
  std::string hint() override;
  std::vector<std::string> pages() const override { return {}; }

 private:
  const serve::Remote& remote_;
  Status status_;
  std::vector<std::string> shown_;
  std::optional<std::string> first_hint_;
  bool asked_ = false;
};

}  // namespace stoka::app
