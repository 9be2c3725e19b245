// Flags that say where the visitor is and who they are; several commands take them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "model/session.h"

namespace stoka::app {

struct PageFlags {
  std::string page;
  std::string page_title;
  int scroll = -1;
  std::vector<std::string> seen;

  void declare(CLI::App& cli) {
    cli.add_option("--page", page, "the page the visitor is on")->type_name("URL");
    cli.add_option("--seen", seen, "slugs already read, comma separated")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("A,B");
    cli.add_option("--page-title", page_title, "its title")->type_name("TEXT");
  }
  // Only an answer can use how far somebody has read.
  void declare_scroll(CLI::App& cli) {
    cli.add_option("--scroll", scroll, "how far it was scrolled, in percent")
        ->check(CLI::Range(0, 100).description(""))
        ->type_name("PCT");
  }
  PageContext context() const {
    PageContext out{page, page_title, {}, seen};
    if (scroll >= 0) out.scroll_pct = scroll;
    return out;
  }
};

}  // namespace stoka::app
