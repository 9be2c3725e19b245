#include "base/url.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"

namespace stoka {
namespace {

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

}  // namespace

std::string percent_encode(std::string_view bytes, std::string_view plain) {
  std::string out;
  for (const char c : bytes) {
    const bool keep = is_ascii_alnum(c) || plain.find(c) != std::string_view::npos;
    if (keep)
      out += c;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

bool is_http_url(std::string_view text) {
  const std::string start = to_lower(text.substr(0, 8));
  const size_t scheme = start == "https://" ? 8 : start.starts_with("http://") ? 7 : 0;
  if (scheme == 0 || text.size() == scheme) return false;
  return std::string_view("/?#\\").find(text[scheme]) == std::string_view::npos;
}

UrlParts split_url(std::string_view url) {
  url = url.substr(0, url.find_first_of("?#"));
  const size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return {{}, url};
  url.remove_prefix(scheme + 3);
  const size_t path = std::min(url.find('/'), url.size());
  return {url.substr(0, path), url.substr(path)};
}

std::string page_path(std::string_view page) {
  const UrlParts url = split_url(page);
  if (!url.host.empty() && url.path.empty()) return "/";
  std::string_view path = url.path;
  for (std::string_view index : {"/index.html", "/index.htm"})
    if (path.ends_with(index)) path.remove_suffix(index.size() - 1);
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return std::string(path);
}

std::string page_slug(std::string_view page) {
  const std::string path = page_path(page);
  std::string_view slug = std::string_view(path).substr(path.rfind('/') + 1);
  for (std::string_view extension : {".html", ".htm", ".md"})
    if (slug.ends_with(extension)) slug.remove_suffix(extension.size());
  return std::string(slug);
}

std::string safe_link(std::string_view address, std::string_view site) {
  if (address.size() > kMaxLinkBytes || std::any_of(address.begin(), address.end(), is_control))
    return {};
  // A browser reads a backslash as a slash, so "/\\host" would leave the site.
  const bool is_path =
      address.starts_with('/') && !address.starts_with("//") && !address.starts_with("/\\");
  if (!is_path && !is_http_url(address)) return {};
  std::string url;
  if (is_path && is_http_url(site)) {
    while (site.ends_with('/')) site.remove_suffix(1);
    url = site;
  }
  url += address;
  std::string out = percent_encode(url, "-._~:/?#[]@!$&'()*+,;=%");
  return out.size() <= kMaxLinkBytes ? out : std::string();
}

}  // namespace stoka
