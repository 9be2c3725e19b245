#!/usr/bin/env bash
# Runs the acceptance checks that need only HTTP, with curl, on a running server:
#   scripts/smoke.sh [--ask QUESTION] [--cites SLUG] [--page PAGE] [--void QUESTION] [URL]
# The default URL is http://127.0.0.1:8787. By default it asks about the newest pages that the site recommends.
# Prints one line per check. The exit code is 0 if no check failed, 1 if a check failed, 2 for wrong usage, 4 if the
# server does not answer or the rate limit allowed no question. It asks about 20 questions and does not use the last
# five requests that the rate limit allows this address; checks that need them are skipped.
set -uo pipefail
export LC_ALL=C

usage() { echo "usage: scripts/smoke.sh [--ask QUESTION] [--cites SLUG] [--page PAGE] [--void QUESTION] [URL]" >&2; exit 2; }
url=http://127.0.0.1:8787 ask="" cites="" page="" void=""
while [ $# -gt 0 ]; do
  case $1 in
    --ask | --cites | --page | --void) [ -n "${2:-}" ] || usage; printf -v "${1#--}" %s "$2"; shift 2 ;;
    -* | '') usage ;;
    *) url=${1%/}; shift; [ $# = 0 ] || usage ;;
  esac
done
command -v curl >/dev/null || { echo "smoke: curl is not installed" >&2; exit 2; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
dir=$work    # the folder for the answers of the current visitor
timed=yes    # whether answers must be fast; empty for the ten parallel answers, which curl has already read
left=""      # requests that the rate limit still allows; empty if the site does not say
limited=""   # set if the rate limit refused a request
why=""       # why the current check failed
passed=0 failed=0 skipped=0
kept=5       # requests that are not used

fetch() { curl -sS --connect-timeout 5 --max-time 60 "$@" 2>"$dir/stderr"; }
bad() { why=$*; return 1; }
limit() { limited=yes; bad "$@"; }

# field NAME: prints the values of this string field in the JSON on standard input, one per line
field() {
  grep -oE "\"$1\": *\"([^\"\\\\]|\\\\.)*\"" | sed -E "s/^\"$1\": *\"//; s/\"\$//; s/\\\\n/ /g; s/\\\\(.)/\1/g"
}
# quoted TEXT: escapes the text for a JSON string
quoted() { printf '%s' "$1" | tr '\n\t' '  ' | sed 's/\\/\\\\/g; s/"/\\"/g'; }

# expect_status WANTED GOT
expect_status() {
  [ "$2" = "$1" ] && return 0
  [ "$2" = 429 ] && { limit "the rate limit of this address is reached; STOKA_CHAT_LIMIT=0 on the server removes it"; return 1; }
  bad "HTTP $2: $(field detail <"$dir/body" | head -n 1)"
}

question() { printf '{"query":"%s"%s}' "$(quoted "$1")" "${2:+,\"session_id\":\"$2\"}"; }
written='%{http_code} %{time_total} %{content_type}\n'

# chat QUERY [SESSION]: asks, and sets session, route, text, slugs, confidence, millis, and the score of page $wanted
chat() {
  local said status seconds type shape error
  if [ -n "$timed" ]; then
    [ -z "$left" ] || [ "$left" -gt $kept ] || { limit "the last $left requests of this address are not used"; return 1; }
    : >"$dir/body"
    said=$(fetch -N -D "$dir/head" -o "$dir/body" -w "$written" -H 'Content-Type: application/json' \
      -d "$(question "$@")" "$url/api/stoka/chat") || { bad "curl: $(tail -n 1 "$dir/stderr")"; return 1; }
    left=$(tr -d '\r' <"$dir/head" | sed -n 's/^[Rr]ate[Ll]imit-[Rr]emaining: *//p' | head -n 1)
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
  } < <(awk -v wanted="${wanted:-}" "$answer_awk" "$dir/body")
  [ -z "$error" ] || { bad "error event: $error"; return 1; }
  [[ $shape =~ ^ready( token| cite)*\ done$ ]] || { bad "events are: $shape"; return 1; }
  millis=${seconds/./} millis=$((10#$millis / 1000))
}
# Converts events to eight lines, with one awk process per answer for speed.
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
    if ((wanted == "" ? score == "" : slug == wanted) && match(data, /"score": *[0-9.e+-]+/)) {
      score = substr(data, RSTART, RLENGTH)
      sub(/.*: */, "", score)
    }
  }
  event = data = ""
}
END { print shape; print session; print route; print confidence; print slugs; print score; print error; print text }'

is_route() { case " $* " in *" $route "*) ;; *) bad "route is $route" ;; esac; }
no_cite() { [ -z "$slugs" ] || bad "cites $slugs"; }
# The limit includes the network round trip, which was measured with /healthz.
quick() { [ "$millis" -le $((150 + network)) ] || bad "took $millis ms"; }
short() { [ $(((${#text} + 3) / 4)) -le 40 ] || bad "is longer than 40 tokens"; }
# Checks that the server has a page for every cited slug.
real_cites() {
  local slug status
  for slug in $slugs; do
    status=$(fetch -G -o "$dir/body" -w '%{http_code}' --data-urlencode "slug=$slug" "$url/api/stoka/open")
    [ "$status" = 302 ] || [ "$(field detail <"$dir/body")" = "that page has no address" ] || { bad "cites $slug, which does not exist (HTTP $status)"; return 1; }
  done
}

# discover [PAGE] LIMIT: the answer is in $dir/body
discover() {
  local status
  status=$(fetch -o "$dir/body" -w '%{http_code}' -H 'Content-Type: application/json' \
    -d "{${1:+\"page\":\"$(quoted "$1")\",}\"limit\":$2}" "$url/api/stoka/discover") ||
    { bad "curl: $(tail -n 1 "$dir/stderr")"; return 1; }
  expect_status 200 "$status"
}

one() { chat "what is this?" && is_route meta && no_cite && short && quick; }
two() {
  local i
  [ ${#queries[@]} -gt 0 ] || { bad "the site recommends no page to ask about; name a question with --ask"; return 1; }
  for i in "${!queries[@]}"; do
    wanted=${wants[i]}
    chat "${queries[i]}" || return 1
    if [ "$route" != new ]; then bad "\"${queries[i]}\": route is $route"
    elif [ -z "$score" ]; then bad "\"${queries[i]}\" does not cite ${wanted:-anything}, but: ${slugs:-nothing}"
    elif ! [[ $score =~ ^(1|0\.[6-9]) ]]; then bad "\"${queries[i]}\": score is $score"
    else
      about=${queries[i]} shown=${wanted:-${slugs%% *}} first_session=$session note=$shown
      return 0
    fi
  done
  return 1
}
three() {
  [ -n "${first_session:-}" ] || { limit "check 2 was shown nothing"; return 1; }
  chat "$about" "$first_session" || return 1
  [ "$session" = "$first_session" ] || { bad "another session: $session"; return 1; }
  case " $slugs " in *" $shown "*) bad "cites $shown again" ;; esac
}
four() {
  local query
  for query in "best javascript framework?" "what will the weather be tomorrow" "write my homework"; do
    chat "$query" || return 1
    if is_route offtopic; then no_cite && short && quick; return; fi  # otherwise the site may be about this topic
  done
  return 1
}
five() {
  local query all=("quantum gravity research" "zither varnish for left-handed glassblowers")
  [ -z "$void" ] || all=("$void")
  for query in "${all[@]}"; do
    chat "$query" || return 1
    if [ "$route" = void ]; then no_cite; return; fi
    if [ "$confidence" = adjacent ]; then real_cites; return; fi
    bad "confidence is $confidence; use --void to ask a question that the site does not answer"
  done
  return 1
}
six() {
  local count self=${page%/}
  discover "$page" 3 || return 1
  slugs=$(field slug <"$dir/body")
  count=$(printf '%s' "$slugs" | grep -c .)
  [ "$count" -ge "$recommended" ] || { bad "$count recommendations"; return 1; }
  case $'\n'$slugs$'\n' in *$'\n'"${self##*/}"$'\n'*) bad "recommends the page itself" ;; esac
}
seven() {
  local said status seconds
  # Both transfers of one curl use the same connection, so the second time does not include connecting.
  said=$(fetch -o "$dir/body" -o "$dir/body2" -w '%{http_code} %{time_total}\n' \
    "$url/api/stoka/context?page=/" "$url/api/stoka/context?page=/") || { bad "curl: $(tail -n 1 "$dir/stderr")"; return 1; }
  read -r status _ <<<"$said"
  expect_status 200 "$status" || return 1
  read -r status seconds <<<"${said#*$'\n'}"
  expect_status 200 "$status" || return 1
  [ -n "$(field hint <"$dir/body")" ] || { bad "no hint"; return 1; }
  cmp -s "$dir/body" "$dir/body2" || { bad "the second answer differs"; return 1; }
  awk -v s="$seconds" -v n="$network" 'BEGIN{exit !(s <= 0.05 + n / 1000)}' || bad "the second call took $seconds s"
}

# One curl sends the question of ten visitors in parallel; then each answer is checked.
ten() {
  local i answered=0 visitors=10 query=${about:-what is this?}
  if [ -n "$left" ] && [ $((left - kept)) -lt 10 ]; then visitors=$((left - kept)); fi
  [ "$visitors" -ge 2 ] || { limit "the last $left requests of this address are not used"; return 1; }
  question "$query" >"$work/question"
  for ((i = 0; i < visitors; ++i)); do
    mkdir -p "$work/$i"
    : >"$work/$i/body"
    [ "$i" = 0 ] || echo next
    printf '%s\n' silent no-buffer connect-timeout=5 max-time=60 "url=\"$url/api/stoka/chat\"" \
      'header="Content-Type: application/json"' "output=\"$work/$i/body\"" "write-out=\"$i $written\"" \
      "data=\"@$work/question\""
  done >"$work/curl.conf"
  curl --parallel --parallel-immediate --parallel-max 10 --config "$work/curl.conf" >"$work/said" 2>/dev/null
  for ((i = 0; i < visitors; ++i)); do
    dir=$work/$i timed="" limited=""
    grep "^$i " "$work/said" >"$dir/said"
    if chat "$query"; then answered=$((answered + 1)); elif [ -z "$limited" ]; then dir=$work timed=yes; return 1; fi
  done
  dir=$work timed=yes
  [ "$answered" -gt 0 ] || return 1
  limited=""
  [ "$answered" = "$visitors" ] || note="the rate limit refused the rest"
  note="$answered of $visitors answered${note:+, $note}"
}

check() {  # check NUMBER FUNCTION NAME
  why="" note="" limited="" wanted=""
  if "$2"; then
    passed=$((passed + 1))
    echo "ok $1 - $3${note:+ ($note)}"
  elif [ -n "$limited" ]; then
    skip "$1" "$3" "$why"
  else
    failed=$((failed + 1))
    echo "not ok $1 - $3: ${why:-failed}"
  fi
}
skip() { skipped=$((skipped + 1)); echo "skip $1 - $2: $3"; }

said=$(fetch -o "$dir/body" -w '%{http_code} %{time_total}' "$url/healthz") ||
  { echo "smoke: no answer from $url ($(tail -n 1 "$dir/stderr")); start it with: stoka serve" >&2; exit 4; }
read -r status seconds <<<"$said"
if [ "$status" != 200 ]; then  # a proxy may hide /healthz
  status=$(fetch -o "$dir/body" -w '%{http_code}' "$url/api/stoka/context?page=/")
  [ "$status" = 200 ] || { echo "smoke: $url/api/stoka/context answers HTTP $status; check that this is stoka" >&2; exit 4; }
fi
network=${seconds/./} network=$((10#$network / 1000))

# The questions are about the newest pages, unless the flags choose others.
queries=() wants=() recommended=3
if discover "" 4; then
  mapfile -t newest < <(field slug <"$dir/body")
  mapfile -t titles < <(field title <"$dir/body")
  if [ ${#newest[@]} -le 3 ]; then recommended=$((${#newest[@]} - 1)); fi
  for i in "${!newest[@]}"; do
    [ "$i" -lt 3 ] || break
    queries+=("tell me about ${titles[i]}")
    wants+=("${newest[i]}")
  done
  [ -n "$page" ] || [ ${#newest[@]} = 0 ] || page=/${newest[0]}
fi
if [ -n "$ask$cites" ]; then
  queries=("${ask:-tell me about ${cites//-/ }}") wants=("$cites")
fi
page=${page:-/}

own="this needs a separate server: run stoka smoke"
check 1 one "'what is this?' gets one line without a citation"
check 2 two "a question about a page gets a citation of this page"
starved=$limited
check 3 three "the same question in the same session does not cite the page again"
check 4 four "an off-topic question is refused"
check 5 five "a question that no page answers gets no invented citation"
check 6 six "discover recommends other pages"
check 7 seven "context has a hint for the front page, and is fast the second time"
skip 8 "an answer without the reranker" "$own"
skip 9 "an error without the embedder" "$own"
check 10 ten "ten visitors are answered at the same time"
skip 11 "every slug shown is in the index" "this needs the store: run stoka smoke"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] || exit 1
[ -z "$starved" ] || { echo "smoke: the rate limit allowed no question about the site's pages; try again later" >&2; exit 4; }
