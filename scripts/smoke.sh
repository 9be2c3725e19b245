#!/usr/bin/env bash
# The acceptance checks that need HTTP alone, with curl, against a running server:
#   scripts/smoke.sh [URL]        default http://127.0.0.1:8787
# One line a check. Ends with 0 if all passed, 1 if one failed, 2 for wrong usage, 4 if the server does not
# answer. The index must hold the sample site. 55 questions are asked: above the limit of an address
# (STOKA_CHAT_LIMIT=0 lifts it) check 10 counts what was refused, and a second run at once fails.
set -uo pipefail
export LC_ALL=C

usage() { echo "usage: scripts/smoke.sh [URL]" >&2; exit 2; }
[ $# -le 1 ] || usage
url=${1:-http://127.0.0.1:8787}
case $url in -* | '') usage ;; esac
url=${url%/}
command -v curl >/dev/null || { echo "smoke: curl is not installed" >&2; exit 2; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
dir=$work    # where one visitor keeps what was answered
timed=yes    # whether answers must be quick; unset while ten ask at once, and curl has them already
limited=""   # set when an answer was 429
why=""       # of a failed check
passed=0 failed=0 skipped=0

ask() { curl -sS --connect-timeout 5 --max-time 60 "$@" 2>"$dir/stderr"; }
bad() { why=$*; return 1; }

# field NAME: the values of that string field in the JSON on standard input, one a line, as text
field() {
  grep -oE "\"$1\": *\"([^\"\\\\]|\\\\.)*\"" | sed -E "s/^\"$1\": *\"//; s/\"\$//; s/\\\\n/ /g; s/\\\\(.)/\1/g"
}

# expect_status WANTED GOT
expect_status() {
  [ "$2" = "$1" ] && return 0
  [ "$2" = 429 ] && { limited=yes; bad "refused by the rate limit; STOKA_CHAT_LIMIT=0 lifts it"; return 1; }
  bad "HTTP $2: $(field detail <"$dir/body" | head -n 1)"
}

question() { printf '{"query":"%s"%s}' "$1" "${2:+,\"session_id\":\"$2\"}"; }
written='%{http_code} %{time_total} %{content_type}\n'

# chat QUERY [SESSION]: sets session, route, text, slugs, confidence, millis, and score of the document asked for
chat() {
  local said status seconds type shape error
  if [ -n "$timed" ]; then
    : >"$dir/body"
    said=$(ask -N -o "$dir/body" -w "$written" -H 'Content-Type: application/json' \
      -d "$(question "$@")" "$url/api/stoka/chat") || { bad "curl: $(tail -n 1 "$dir/stderr")"; return 1; }
  else
    said=$(<"$dir/said") said=${said#* }
  fi
  read -r status seconds type <<<"$said"
  expect_status 200 "$status" || return 1
  case $type in text/event-stream*) ;; *) bad "Content-Type is '$type'"; return 1 ;; esac
  {
    read -r shape
    read -r session
    read -r route
    read -r confidence
    read -r slugs
    read -r score
    read -r error
    IFS= read -r text
  } < <(awk "$answer_awk" "$dir/body")
  [ -z "$error" ] || { bad "error event: $error"; return 1; }
  [[ $shape =~ ^ready( token| cite)*\ done$ ]] || { bad "events are: $shape"; return 1; }
  millis=${seconds/./} millis=$((10#$millis / 1000))
}
# Events to eight lines. One awk an answer, because fifty of them are read.
# shellcheck disable=SC2016
answer_awk='
function field(name) {
  if (!match(data, "\"" name "\": *\"([^\"\\\\]|\\\\.)*\"")) return ""
  found = substr(data, RSTART, RLENGTH)
  sub("^\"" name "\": *\"", "", found)
  found = substr(found, 1, length(found) - 1)
  gsub(/\\n/, " ", found)
  gsub(/\\"/, "\"", found)
  gsub(/\\\\/, "\\", found)
  return found
}
/^event: / { event = substr($0, 8) }
/^data: / { data = substr($0, 7) }
/^$/ && event != "" {
  shape = shape (shape == "" ? "" : " ") event
  if (event == "ready") { session = field("session_id"); route = field("route") }
  if (event == "token") text = text field("text")
  if (event == "done") confidence = field("confidence")
  if (event == "error") error = field("message")
  if (event == "cite") {
    slug = field("slug")
    slugs = slugs (slugs == "" ? "" : " ") slug
    if (slug == "philosophy-bounded-execution" && match(data, /"score": *[0-9.e+-]+/)) {
      score = substr(data, RSTART, RLENGTH)
      sub(/.*: */, "", score)
    }
  }
  event = data = ""
}
END { print shape; print session; print route; print confidence; print slugs; print score; print error; print text }'

is_route() { case " $* " in *" $route "*) ;; *) bad "route is $route" ;; esac; }
no_cite() { [ -z "$slugs" ] || bad "cites $slugs"; }
quick() { [ -z "$timed" ] || [ "$millis" -le 150 ] || bad "took $millis ms"; }
# Whether the server has a page for every slug that was cited.
real_cites() {
  local slug status
  for slug in $slugs; do
    status=$(ask -G -o "$dir/body" -w '%{http_code}' --data-urlencode "slug=$slug" "$url/api/stoka/open")
    [ "$status" = 302 ] || { bad "cites $slug, which is not there (HTTP $status)"; return 1; }
  done
}

bounded="tell me about bounded execution"
one() {
  chat "what is this?" && is_route meta && no_cite && quick || return 1
  case $text in *\?) ;; *) bad "does not end with a question: $text"; return 1 ;; esac
  [ $(((${#text} + 3) / 4)) -le 40 ] || bad "is longer than 40 tokens"
}
two() {
  chat "$bounded" && is_route new || return 1
  [ -n "$score" ] || { bad "does not cite philosophy-bounded-execution, but: ${slugs:-nothing}"; return 1; }
  [[ $score =~ ^(1|0\.[6-9]) ]] || { bad "score is $score"; return 1; }
  first_session=$session
}
three() {
  [ -n "${first_session:-}" ] || { bad "needs the session of check 2"; return 1; }
  chat "$bounded" "$first_session" || return 1
  [ "$session" = "$first_session" ] || { bad "another session: $session"; return 1; }
  case " $slugs " in *" philosophy-bounded-execution "*) bad "cites it again" ;; esac
}
four() {
  chat "best javascript framework?" && is_route offtopic && no_cite && quick || return 1
  [ "$text" = "wrong terminal." ] || bad "says: $text"
}
five() {
  chat "quantum gravity research" || return 1
  if [ "$route" = void ]; then no_cite; return; fi
  [ "$confidence" = adjacent ] || { bad "confidence is $confidence"; return 1; }
  real_cites
}
six() {
  local page=philosophy-bounded-execution status count
  status=$(ask -o "$dir/body" -w '%{http_code}' -H 'Content-Type: application/json' \
    -d "{\"page\":\"/blog/$page\"}" "$url/api/stoka/discover") || { bad "curl: $(tail -n 1 "$dir/stderr")"; return 1; }
  expect_status 200 "$status" || return 1
  slugs=$(field slug <"$dir/body")
  count=$(printf '%s' "$slugs" | grep -c .)
  [ "$count" = 3 ] || { bad "$count recommendations"; return 1; }
  case $'\n'$slugs$'\n' in *$'\n'$page$'\n'*) bad "recommends the page itself" ;; esac
}
seven() {
  local said status seconds
  # Two transfers of one curl share a connection: the second is the answer alone.
  said=$(ask -o "$dir/body" -o "$dir/body2" -w '%{http_code} %{time_total}\n' \
    "$url/api/stoka/context?page=/" "$url/api/stoka/context?page=/") || { bad "curl: $(tail -n 1 "$dir/stderr")"; return 1; }
  read -r status _ <<<"$said"
  expect_status 200 "$status" || return 1
  read -r status seconds <<<"${said#*$'\n'}"
  expect_status 200 "$status" || return 1
  [ -n "$(field hint <"$dir/body")" ] || { bad "no hint"; return 1; }
  cmp -s "$dir/body" "$dir/body2" || { bad "the second answer is another"; return 1; }
  awk -v s="$seconds" 'BEGIN{exit !(s <= 0.05)}' || bad "the second call took $seconds s"
}

# Ten visitors ask one question at the same moment, by one curl; then each answer is checked.
# together FUNCTION QUERY: appends to $work/verdicts ok, limited or what was wrong, one line a visitor
together() {
  local i
  for i in 0 1 2 3 4 5 6 7 8 9; do
    mkdir -p "$work/$i"
    : >"$work/$i/body"
    [ "$i" = 0 ] || echo next
    printf '%s\n' silent no-buffer connect-timeout=5 max-time=60 "url=\"$url/api/stoka/chat\"" \
      'header="Content-Type: application/json"' "output=\"$work/$i/body\"" "write-out=\"$i $written\""
    [ "$1" != three ] || set -- "$1" "$2" "${sessions[i]}"
    question "${@:2}" >"$work/$i/question"
    echo "data=\"@$work/$i/question\""
  done >"$work/curl.conf"
  curl --parallel --parallel-immediate --parallel-max 10 --config "$work/curl.conf" >"$work/said" 2>/dev/null
  for i in 0 1 2 3 4 5 6 7 8 9; do
    dir=$work/$i timed="" why="" limited="" first_session=${sessions[i]:-}
    grep "^$i " "$work/said" >"$dir/said"
    if "$1"; then echo ok; elif [ -n "$limited" ]; then echo limited; else echo "$1: ${why:-failed}"; fi
    sessions[i]=$first_session
  done >>"$work/verdicts"
}
ten() {
  local answered wrong sessions=()
  together one "what is this?"
  together two "$bounded"
  together three "$bounded"
  together four "best javascript framework?"
  together five "quantum gravity research"
  # Who was refused by the limit at two has no session for three.
  wrong=$(grep -vxE 'ok|limited|three: needs the session of check 2' "$work/verdicts")
  [ -z "$wrong" ] || { bad "$(sort <<<"$wrong" | uniq -c | sort -rn | head -n 1 | sed 's/^ *//')"; return 1; }
  answered=$(grep -cx ok "$work/verdicts")
  [ "$answered" -ge 10 ] || { bad "only $answered of 50 answered: the rate limit is reached"; return 1; }
  [ "$answered" = 50 ] || note="$answered of 50 answered, the rest refused by the rate limit"
}

check() {  # check NUMBER FUNCTION NAME
  why="" note=""
  if "$2"; then
    passed=$((passed + 1))
    echo "ok $1 - $3${note:+ ($note)}"
  else
    failed=$((failed + 1))
    echo "not ok $1 - $3: ${why:-failed}"
  fi
}
skip() { skipped=$((skipped + 1)); echo "skip $1 - $2: $3"; }

status=$(ask -o "$dir/body" -w '%{http_code}' "$url/healthz") ||
  { echo "smoke: no answer from $url ($(tail -n 1 "$dir/stderr")); start it with: stoka serve" >&2; exit 4; }
[ "$status" = 200 ] || { echo "smoke: $url/healthz answers HTTP $status; is this stoka?" >&2; exit 4; }

own="needs a server of its own: stoka smoke"
check 1 one "what is this? is answered with a question, without a citation"
check 2 two "bounded execution is cited"
check 3 three "the same again in the session cites something else, or nothing"
check 4 four "what is off topic is refused in two words"
check 5 five "what is not there is not made up"
check 6 six "discover gives three, and not the page itself"
check 7 seven "context has a hint for the front page, at once the second time"
skip 8 "a dead reranker" "$own"
skip 9 "a dead embedder" "$own"
check 10 ten "ten visitors at a time ask all five"
skip 11 "every slug shown is in the index" "reads the store: stoka smoke"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
