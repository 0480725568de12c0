#!/usr/bin/env bash
# Installs slipway on a runner of a CI service. action.yml and templates/slipway/template.yml call it.
#
#   install.sh plan      prints origin=, version= and key=: which slipway it will be, and the name of what is kept between runs
#   install.sh install   installs it, or finds it installed, and prints what it did
#
# The environment says what to install. None of it is ever run as code.
#
#   SETUP_FOLDER       where slipway and what it compiles are kept
#   SETUP_VERSION      a release, such as v0.1.0; empty: SETUP_REF if that is a release, else the sources
#   SETUP_REF          the ref at which the action or template was asked for
#   SETUP_SOURCE       a clone to compile slipway from; empty: the one that has this script
#   SETUP_PROGRAMS     what to have ready besides: none, cluster (the default), or nodes
#   SETUP_PUBLIC_KEY   the key, in base64, that must have signed the checksums of a release; empty: checksums alone are
#                      compared, and a version without a release is compiled
#   SETUP_PRIVATE      yes: keep the modules that compiling needs in SETUP_FOLDER, too
#   SLIPWAY_DOWNLOAD   off: never download a release; else a mirror in place of the release host
#   SLIPWAY_TRUST      folders whose programs are started whoever may change them; unset: all, on a machine that is this
#                      job's alone
#
# A runner of GitHub gives GITHUB_PATH, GITHUB_ENV and GITHUB_OUTPUT: files that later steps read. RUNNER_ENVIRONMENT,
# there, and GitLab's CI_DISPOSABLE_ENVIRONMENT say whether the machine is made for one job.
set -euo pipefail

module=github.com/slipway-dev/slipway
host=https://github.com/slipway-dev/slipway/releases/download
programs=${SETUP_PROGRAMS:-cluster}
own=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

# absolute is a path that is the same in every folder: compilers run in another one, and so do later steps.
absolute() { if command -v cygpath >/dev/null; then cygpath -a -u "$1"; elif [[ $1 = /* ]]; then echo "$1"; else echo "$PWD/$1"; fi; }
folder=$(absolute "${SETUP_FOLDER:?SETUP_FOLDER is not set: name the folder to install into}")
source=$(absolute "${SETUP_SOURCE:-$own}")

# fail prints what is wrong, where, what to do and, if more is known, why; and ends the script.
fail() {
  printf 'error: %s\n  where: %s\n' "$1" "$2"
  [ -z "${4:-}" ] || printf '  why: %s\n' "$4"
  printf '  next: %s\n' "$3"
  exit 1
} >&2

say() { printf 'slipway: %s\n' "$*"; }

# An address has these parts: scheme, user, host, port, path, and a query or fragment. An @ elsewhere leaves unclear
# what is a password.
address='^([A-Za-z]+)://([^/?#\\[:space:]]*@)?([^][/?#@:\\[:space:]]+|\[[0-9A-Fa-f:.]+\])(:[0-9]*)?(/[^?#@[:space:]]*)?([?#][^@[:space:]]*)?$'

# shown is an address without what may be a secret, a user or a query, and empty if it is not clear what is one: logs of
# jobs are read by many.
shown() {
  if [[ $1 =~ $address ]]; then printf '%s' "${BASH_REMATCH[1]}://${BASH_REMATCH[3]}${BASH_REMATCH[4]}${BASH_REMATCH[5]}"; fi
}

# need ends the script if there is no such program.
need() { command -v "$1" >/dev/null || fail "there is no $1, which releases are read with" "PATH" "install $1, or use an image of the runner that has it"; }

sha256() {
  if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi | cut -d ' ' -f 1
}

system() {
  case $(uname -s) in
    Linux) echo linux ;;
    Darwin) echo darwin ;;
    MINGW* | MSYS* | CYGWIN*) echo windows ;;
    *) fail "no slipway for this system" "$(uname -s)" "use a runner with Linux, macOS or Windows" ;;
  esac
}

machine() {
  case $(uname -m) in
    x86_64 | amd64) echo amd64 ;;
    aarch64 | arm64) echo arm64 ;;
    *) fail "no slipway for this processor" "$(uname -m)" "use a runner with amd64 or arm64" ;;
  esac
}

# native is a path as programs of this system write it: bash on Windows has a form of its own.
native() { if command -v cygpath >/dev/null; then cygpath -m "$1"; else printf '%s\n' "$1"; fi; }

is_release() { [[ $1 =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]]; }

# is_mirror says whether an address may be a mirror's: https, or this machine. A query would swallow the names of files.
is_mirror() {
  [[ $1 =~ $address ]] && [ -z "${BASH_REMATCH[6]}" ] || return 1
  [[ ${BASH_REMATCH[1]}:${BASH_REMATCH[3]} =~ ^([Hh][Tt][Tt][Pp][Ss]:.*|[Hh][Tt][Tt][Pp]:(127\.0\.0\.1|localhost))$ ]]
}

check_settings() {
  if [ -n "${SETUP_VERSION:-}" ] && ! is_release "$SETUP_VERSION"; then
    fail "the version is no release" "version: $SETUP_VERSION" "write it in full, as v0.1.0, or leave it out"
  fi
  case $programs in
    none | cluster | nodes) ;;
    *) fail "unknown programs" "programs: $programs" "use none, cluster or nodes" ;;
  esac
  case ${SLIPWAY_DOWNLOAD:-} in
    '' | off) ;;
    *) is_mirror "$SLIPWAY_DOWNLOAD" || fail "the mirror is no https address of a folder" "SLIPWAY_DOWNLOAD=$(shown "$SLIPWAY_DOWNLOAD")" \
      "use https://HOST/PATH without a query, or off" ;;
  esac
}

# version is the release to install; empty when slipway is compiled from sources.
version() {
  if [ -n "${SETUP_VERSION:-}" ]; then
    echo "$SETUP_VERSION"
  elif [ -z "${SETUP_SOURCE:-}" ] && is_release "${SETUP_REF:-}"; then
    echo "$SETUP_REF"
  fi
}

# sources hashes all that slipway and its programs are compiled from.
sources() {
  [ -f "$source/cmd/slipway/main.go" ] || fail "no sources of slipway" "source: $source" "check out $module there, or name a version"
  (cd "$source" && find go.mod go.sum cmd internal project cluster -type f -not -path '*/testdata/*' -print0 |
    LC_ALL=C sort -z | xargs -0 cat) | sha256 | cut -c 1-20
}

need_go() {
  command -v go >/dev/null || fail "slipway must be compiled, and there is no Go" "PATH" "install Go before this step, as actions/setup-go does"
}

# key names what the install folder holds, and which key has vouched for it: what was installed without one, or compiled
# because downloads are off, is installed again. An exit in $( ) ends that alone, so each of these is an assignment.
key() {
  local from=$1 hash
  if [ -n "$from" ] && [ -n "${SETUP_PUBLIC_KEY:-}" ] && [ "${SLIPWAY_DOWNLOAD:-}" != off ]; then
    hash=$(sha256 <<<"$SETUP_PUBLIC_KEY")
    from=$from-${hash:0:8}
  elif [ -z "$from" ]; then
    need_go
    hash=$(sources) || exit 1
    from=$(go env GOVERSION)-$hash
  fi
  echo "slipway-$os-$arch-$from-$programs"
}

plan() {
  local asked name
  asked=$(version)
  name=$(key "$asked")
  printf 'origin=%s\nversion=%s\nkey=%s\n' "$([ -n "$asked" ] && echo release || echo source)" "$asked" "$name"
}

# fetch gets an address into a file of at most so many bytes, and prints the status of the answer. curl knows the size
# only when the host sends it; the system stops the rest.
fetch() {
  local status code=0
  : >"$2" # there is a file after an empty answer, too
  { status=$(
    ulimit -f $(($3 / 1024 + 1)) 2>/dev/null || true
    exec curl --silent --show-error --location --globoff --proto '=https,http' --proto-redir '=https' \
      --connect-timeout 20 --speed-limit 1024 --speed-time "${SETUP_PATIENCE:-30}" --retry 2 --max-filesize "$3" \
      --output "$2" --write-out '%{http_code}' "$1" 2>"$2.why"
  ) || code=$?; } 2>/dev/null # or the shell reports that the system has stopped it
  [ $code = 0 ] || fail "the release host gives no file" "$(shown "$1")" "$again" "$(cause $code "$2" "$3")"
  echo "$status"
}

# cause is why curl gave a file up: its code, the file, and the most bytes that it may have.
cause() {
  if [ "$1" = 63 ] || [ "$(bytes "$2")" -gt "$3" ]; then
    echo "it is larger than any such file of a release"
  else
    sed -n '${s/^curl: ([0-9]*) //;p;}' "$2.why"
  fi
}

# bytes is the size of a file, or zero.
bytes() { if [ -f "$1" ]; then wc -c <"$1"; else echo 0; fi; }

# verify_signature compares the signature of the checksums with the public key. An ed25519 key in DER is these twelve
# bytes and the key.
verify_signature() {
  local sums=$1 work=$2 where=$3
  need openssl
  {
    printf '\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00'
    printf '%s' "$SETUP_PUBLIC_KEY" | openssl base64 -d -A
  } >"$work/key.der" 2>/dev/null &&
    openssl base64 -d -A -in "$sums.sig" -out "$work/signature" 2>/dev/null &&
    openssl pkeyutl -verify -pubin -keyform DER -inkey "$work/key.der" -rawin -in "$sums" -sigfile "$work/signature" >/dev/null 2>&1 ||
    fail "the checksums are not signed with the public key" "$where" "check public-key; install nothing from this host if it is right"
}

# listed prints the checksum that a file of checksums has for a name.
listed() { awk -v name="$2" '($2 == name || $2 == "*" name) && length($1) == 64 && $1 ~ /^[0-9a-f]+$/ { print $1; exit }' "$1"; }

# What an archive may have and unpack to, as internal/release has it; and the size of a listing of so many entries.
max_entries=1000 max_unpacked=$((4 << 30)) max_listing=400000

# Lines of listings: the kind, owners or versions, the size, the time, the name. GNU's tar and busybox write a date and a
# time, the tar of macOS writes Sep 21 14:13. Names of a release have no spaces, so neither a link, whose line goes on,
# nor a name or an owner that looks like a line fits. unzip has a question mark for a file of a system without kinds.
tar_line='([-d])[^ ]+ +([^ ]+ +){1,3}([0-9]+) +([0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]+|[A-Z][a-z]{2} +[0-9]{1,2} +[0-9:]+)'
zip_line='([-d?])[^ ]+ +([0-9.]+ [a-z0-9]+) +([0-9]+) [tb][-lxX] [^ ]{4} ([^ ]+ [0-9:]+)'
name_of_release='(/[0-9A-Za-z_][0-9A-Za-z_.+-]*)*'

# refuse ends the script for an archive that is none of a release. It is known to who calls as $from and $archive.
refuse() { fail "the archive $1" "$from/$archive${2:+: ${2:0:100}}" "install nothing from this host, and report it: https://$module/issues"; }

# reading runs a program that reads a file of a folder: in it, as tar takes a colon in a path for one of a host; in one
# language, as a listing is read; and with little memory, however long an archive says that a name is.
reading() {
  (
    cd "$1" && shift
    ulimit -v 1048576 || true # not every system can
    LC_ALL=C exec "$@" </dev/null
  ) 2>/dev/null
}

# listing prints what an archive has, an entry in a line, and content what a file in it has.
listing() { if [[ $2 = *.zip ]]; then reading "$1" unzip -Zs-h-t "$2"; else reading "$1" tar -tvf "$2"; fi; }
content() { if [[ $2 = *.zip ]]; then reading "$1" unzip -p "$2" "$3"; else reading "$1" tar -xOf "$2" "$3"; fi; }

# room is how much an archive may unpack to: twenty times as much as it has, of which programs need four.
room() {
  local most=$((20 * ($(bytes "$1") + (1 << 20))))
  echo $((most < max_unpacked ? most : max_unpacked))
}

# inflate makes a tar archive of a .tar.gz, up to so many bytes.
inflate() {
  local whole=yes
  gzip -dc <"$1" 2>/dev/null | head -c $(($3 + 1)) >"$2" || whole=
  [ "$(bytes "$2")" -le "$3" ] || refuse "unpacks to more than $3 bytes"
  [ -n "$whole" ] || refuse "cannot be read"
}

# files reads a listing, and prints the size and the name of each file. An entry of another kind, elsewhere, or beyond
# the limits is refused: as in the command itself, and before anything is unpacked.
files() {
  local stem=$1 left=$2 form="^$3 (${1//./\\.}$name_of_release)/?\$" count=0 line size
  while IFS= read -r line; do
    line=${line//[![:print:]]/?}
    count=$((count + 1))
    [ $count -le $max_entries ] || refuse "has more than $max_entries entries"
    [[ $line = [-d?]* && $line != *' -> '* && $line != *' link to '* ]] || refuse "has what is neither a file nor a folder" "${line##*"$stem"/}"
    [[ $line =~ $form ]] || refuse "has files outside its folder, or with names of no release" "$line"
    size=${BASH_REMATCH[3]}
    [ ${#size} -le 12 ] && left=$((left - size)) && [ "$left" -ge 0 ] || refuse "unpacks to more than $2 bytes"
    [ "${BASH_REMATCH[1]}" = d ] || echo "$size ${BASH_REMATCH[5]}"
  done
}

# unpack takes the files out of an archive, into its folder in the folder work. It writes what they contain, and as much
# as was listed: no link, owner or mode of the archive comes to be.
unpack() {
  local work=$1 stem=$2 file=$archive format=$zip_line left whole=yes size name
  left=$(room "$work/$archive")
  if [[ $archive = *.zip ]]; then need unzip; else
    need tar && need gzip
    file=archive.tar format=$tar_line
    inflate "$work/$archive" "$work/$file" "$left"
  fi
  listing "$work" "$file" | head -c $max_listing >"$work/listing" || whole=
  files "$stem" "$left" "$format" <"$work/listing" >"$work/files"
  [ "$(bytes "$work/listing")" -lt $max_listing ] || refuse "has more than $max_entries entries"
  [ -n "$whole" ] || refuse "cannot be read"
  while read -r size name; do
    {
      mkdir -p "$work/${name%/*}" && content "$work" "$file" "$name" | head -c $((size + 1)) >"$work/$name" &&
        [ "$(bytes "$work/$name")" -eq "$size" ] && chmod 755 "$work/$name"
    } 2>/dev/null || refuse "has a file that is not as it is listed" "$name"
  done <"$work/files"
}

# download installs a release from its host. If the host has no such release, there is no folder bin afterwards. With a
# public key that is an error: a host could have anything compiled by having no release.
download() {
  local asked=$1 work=$2 stem archive base=${SLIPWAY_DOWNLOAD:-$host} from status want
  stem=slipway_${asked}_${os}_$arch
  archive=$stem.tar.gz
  [ "$os" != windows ] || archive=$stem.zip
  base=${base%/}/$asked
  from=$(shown "$base")
  status=$(fetch "$base/SHA256SUMS" "$work/SHA256SUMS" 65536)
  if [ "$status" = 404 ]; then
    [ -z "${SETUP_PUBLIC_KEY:-}" ] || fail "the release host has no release $asked, and public-key wants a signed one" "$from/SHA256SUMS" \
      'check version and mirror; or set SLIPWAY_DOWNLOAD=off (mirror: "off") to compile the version, which no signature covers'
    return 0
  fi
  [ "$status" = 200 ] || fail "the release host answers $status" "$from/SHA256SUMS" "$again"
  if [ -n "${SETUP_PUBLIC_KEY:-}" ]; then
    status=$(fetch "$base/SHA256SUMS.sig" "$work/SHA256SUMS.sig" 1024)
    [ "$status" = 200 ] || fail "the release has no signature" "$from/SHA256SUMS.sig" "name a signed release, or leave public-key out"
    verify_signature "$work/SHA256SUMS" "$work" "$from/SHA256SUMS.sig"
  fi
  want=$(listed "$work/SHA256SUMS" "$archive")
  [ -n "$want" ] || fail "the release host lists no checksum of the archive" "$from/SHA256SUMS: $archive" "$again"
  status=$(fetch "$base/$archive" "$work/$archive" $((1 << 30)))
  [ "$status" = 200 ] || fail "the release host answers $status" "$from/$archive" "$again"
  [ "$(sha256 <"$work/$archive")" = "$want" ] || fail "the archive has another checksum than SHA256SUMS lists" "$from/$archive" "$again"
  unpack "$work" "$stem"
  [ -f "$work/$stem/$program" ] && [ -s "$work/$stem/$program" ] || refuse "has no $program, or an empty one"
  mv "$work/$stem" "$folder/bin"
  say "downloaded $asked from $from and compared its checksum${SETUP_PUBLIC_KEY:+ and signature}"
}

# compile builds the command: at a version from the module proxy, else from the sources. The project's settings for its
# own build do not count.
compile() {
  need_go
  mkdir -p "$folder/bin"
  if [ -n "$1" ]; then
    GOBIN=$(native "$folder/bin") GOFLAGS='' GOWORK=off CGO_ENABLED=0 go install "$module/cmd/slipway@$1"
  else
    GOFLAGS='' GOWORK=off CGO_ENABLED=0 go build -C "$source" -o "$(native "$folder/bin")/" ./cmd/slipway
  fi
  say "compiled ${1:-$source} with $(go env GOVERSION)"
}

# put installs slipway into the folder bin, which is not there yet.
put() {
  local asked=$1 work
  if [ -n "$asked" ] && [ "${SLIPWAY_DOWNLOAD:-}" != off ]; then
    work=$(mktemp -d "$folder/download.XXXXXX")
    # shellcheck disable=SC2064 # the folder of now
    trap "rm -rf $(printf %q "$work")" EXIT
    download "$asked" "$work"
    [ -d "$folder/bin" ] || say "there is no release $asked; compiling"
  fi
  [ -d "$folder/bin" ] || compile "$asked"
}

# trust has slipway start the programs of a machine that is this job's alone. There is no other user to keep out, while
# all may write to GitHub's folder of tools and to what GitLab checks out, and in a container its owner is another one.
trust() {
  [ "${RUNNER_ENVIRONMENT:-}" = github-hosted ] || [ "${CI_DISPOSABLE_ENVIRONMENT:-}" = true ] || return 0
  export SLIPWAY_TRUST="${SLIPWAY_TRUST:-/}"
}

# settle has later steps find slipway, its cache and, if it was compiled from sources, those, and trust what this one
# does: by the files of GitHub's runners, and by the file env in the install folder, which a shell can read.
settle() {
  local asked=$1 name
  local -a names=(SLIPWAY_CACHE)
  [ -z "${SLIPWAY_TRUST:-}" ] || names+=(SLIPWAY_TRUST)
  PATH=$folder/bin:$PATH
  SLIPWAY_CACHE=$(native "$folder/cache")
  if [ -z "$asked" ]; then
    SLIPWAY_SOURCE=$(native "$source")
    names+=(SLIPWAY_SOURCE)
  fi
  rm -f "$folder/env" # it may be a link
  printf 'export PATH=%q:"$PATH"\n' "$folder/bin" >"$folder/env"
  for name in "${names[@]}"; do
    export "${name?}"
    printf 'export %s=%q\n' "$name" "${!name}" >>"$folder/env"
    [ -z "${GITHUB_ENV:-}" ] || echo "$name=${!name}" >>"$GITHUB_ENV"
  done
  [ -z "${GITHUB_PATH:-}" ] || native "$folder/bin" >>"$GITHUB_PATH"
}

# ready has slipway find or compile the programs that were asked for.
ready() {
  local path
  [ "$programs" != none ] || return 0
  path=$(slipway cluster build)
  say "clusters run $path"
  [ "$programs" = nodes ] || return 0
  path=$(slipway cluster build --nodes real)
  say "nodes run $path"
}

# check_version sets printed to what the command calls itself. One that is not the release that was asked for goes, and
# what came with it: services keep the folder after a failure, too.
check_version() {
  local ran=yes
  printed=$("$folder/bin/$program" version) || ran=
  printed=${printed%%$'\n'*} # the other lines have the versions of other programs
  [[ -z $ran || ( -n $1 && "$printed " != "slipway $1"[,\ ]* ) ]] || return 0
  rm -rf "$folder/bin"
  [ -n "$ran" ] || fail "slipway was installed and does not run" "$folder/bin/$program version" "$again"
  fail "the archive has another version than was asked for" "$1: $printed" "report it: https://$module/issues"
}

install() {
  local asked name printed kept
  asked=$(version)
  name=$(key "$asked")
  mkdir -p "$folder"
  trust
  [ "${SETUP_PRIVATE:-}" != yes ] || export GOMODCACHE="$folder/mod"
  kept=$([ ! -x "$folder/bin/$program" ] || cat "$folder/bin/.key" 2>/dev/null) || true
  if [ "$kept" = "$name" ]; then
    say "kept from an earlier run ($name)"
  else
    rm -rf "$folder/bin"
    put "$asked"
  fi
  check_version "$asked"
  say "$printed"
  [ "$kept" = "$name" ] || echo "$name" >"$folder/bin/.key"
  settle "$asked"
  ready
  [ -z "${GITHUB_OUTPUT:-}" ] || printf 'path=%s\nprinted=%s\n' "$folder/bin/slipway" "$printed" >>"$GITHUB_OUTPUT"
}

again='run the job again, or set SLIPWAY_DOWNLOAD=off (mirror: "off") to compile'
os=$(system)
arch=$(machine)
if [ "$os" = windows ]; then program=slipway.exe; else program=slipway; fi
check_settings
case ${1:-} in
  plan) plan ;;
  install) install ;;
  *) fail "unknown command" "install.sh ${1:-}" "install.sh plan, or install.sh install" ;;
esac
