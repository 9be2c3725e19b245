// The flags, common to several commands, that describe the page which a visitor is reading.
#pragma once

#include <string>
#include <vector>

#include "flags.h"
#include "model/session.h"

namespace stoka::app {

struct PageFlags {
  std::string page;
  std::string page_title;
  int scroll = -1;
  std::vector<std::string> seen;

  void declare(FlagList& flags) {
    add(flags,
        {{.names = "--page", .target = &page, .help = "the page the visitor is on", .value = "URL"},
         {.names = "--seen",
          .target = &seen,
          .help = "slugs the visitor has read, separated by commas",
          .value = "A,B",
          .comma_separated = true},
         {.names = "--page-title",
          .target = &page_title,
          .help = "the title of that page",
          .value = "TEXT"}});
  }
  // Declares --scroll, apart from the other page flags because only `stoka chat` has it.
  void declare_scroll(FlagList& flags) {
    add(flags, {{.names = "--scroll",
                 .target = &scroll,
                 .help = "how far the page is scrolled, in percent",
                 .value = "PCT",
                 .max = 100}});
  }
  PageContext context() const {
    PageContext out{page, page_title, {}, seen};
    if (scroll >= 0) out.scroll_pct = scroll;
    return out;
  }
};

}  // namespace stoka::app
