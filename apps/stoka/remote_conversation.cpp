#include "remote_conversation.h"

#include <algorithm>
#include <utility>

namespace stoka::app {

Result<> RemoteConversation::open() {
  STOKA_ASSIGN(pipeline::Ambient ambient, remote_.context("/"));
  first_hint_ = std::move(ambient.hint);
  return {};
}

Result<> RemoteConversation::ask(std::string_view query, const EventSink& sink,
                                 std::stop_token stop) {
  pipeline::TurnRequest request;
  request.query = query;
  request.session_id = status_.session_id;
  request.visitor_id = status_.visitor_id;
  request.page.page = status_.page;
  STOKA_TRY(remote_.chat(
      request,
      [&](const Event& event) {
        if (const auto* ready = std::get_if<ReadyEvent>(&event)) {
          asked_ = true;
          status_.session_id = ready->session_id;
          status_.visitor_id = ready->visitor_id;
        } else if (const auto* cite = std::get_if<CiteEvent>(&event)) {
          if (std::find(shown_.begin(), shown_.end(), cite->citation.slug) == shown_.end())
            shown_.push_back(cite->citation.slug);
        } else if (const auto* done = std::get_if<DoneEvent>(&event)) {
          status_.turns = done->turns;
        }
        sink(event);
      },
      std::move(stop)));
  return {};
}

Result<> RemoteConversation::new_session() {
  status_.session_id.clear();
  status_.turns = 0;
  shown_.clear();
  asked_ = false;
  return {};
}

Result<> RemoteConversation::set_page(std::string_view url) {
  status_.page = url;
  return {};
}

std::string RemoteConversation::why() const {
  return asked_ ? "only " + remote_.url() + " knows how its answers come about." : "";
}

std::string RemoteConversation::hint() {
  if (auto first = std::exchange(first_hint_, std::nullopt)) return *first;
  const auto ambient = remote_.context(status_.page.empty() ? "/" : status_.page);
  return ambient ? ambient->hint : "";
}

}  // namespace stoka::app
