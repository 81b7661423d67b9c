#!/usr/bin/env bash
# Builds the model runner for this machine: bin/ctxd-runner, and bin/llama with
# libllama_go and the libraries of llama.cpp that it needs. See README.md.
#
#   BACKEND=cpu|vulkan|cuda   what it can compute with beside the processor; cpu by default
#   FROM=prebuilt|source      llama.cpp as npm's node-llama-cpp ships it built, seconds; or
#                             compiled here from the sources in the same package, minutes.
#                             prebuilt where there is one: Linux on x64 and arm64
#   SERVER=1                  llama-server as well, in bin/llama, which the tests of chat/llm and rpc
#                             ask: two minutes of a processor over libraries that are built, kept
#                             for the next time; with FROM=source many minutes
#   JOBS=2                    compilers at once, for source and the server
#   OUT=folder                where it goes instead of bin
#
# Needs Go, npm, git and a C++ compiler; source needs cmake as well, and for cuda
# and vulkan their SDKs.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
backend=${BACKEND:-cpu}
version=3.22.1
bin=${OUT:-$root/bin}
mkdir -p "$bin"
bin=$(cd "$bin" && pwd)
out=$bin/llama
cache=${XDG_CACHE_HOME:-$HOME/.cache}/ctxd/runner-$version
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
	echo "runner: $1" >&2
	exit 1
}

need() {
	command -v "$1" >/dev/null || fail "$1 is needed${2:+: $2}"
}

# fetch NAME: the npm package of that name, checked, unpacked into $work/NAME.
fetch() {
	local name=$1 file sum want
	file=${name#@}
	file=${file//\//-}-$version.tgz
	if [[ ! -f $cache/$file ]]; then
		mkdir -p "$cache"
		(cd "$work" && npm pack --silent "$name@$version" >/dev/null) || fail "npm could not get $name@$version"
		mv "$work/$file" "$cache/$file"
	fi
	want=$(awk -v f="$file" '$2 == f { print $1 }' "$here/sources.sha256")
	[[ -n $want ]] || fail "no checksum of $file in sources.sha256"
	sum=$(checksum "$cache/$file")
	if [[ $sum != "$want" ]]; then
		rm -f "$cache/$file"
		fail "$file has another checksum than it had"
	fi
	mkdir -p "$work/$name"
	tar xzf "$cache/$file" -C "$work/$name" --strip-components=1
}

checksum() {
	if command -v sha256sum >/dev/null; then
		sha256sum "$1" | cut -d' ' -f1
	else
		shasum -a 256 "$1" | cut -d' ' -f1
	fi
}

# place says which system this is, as npm names it.
place() {
	case $(uname -s)-$(uname -m) in
	Linux-x86_64) echo linux-x64 ;;
	Linux-aarch64) echo linux-arm64 ;;
	Darwin-*) echo mac ;;
	*) fail "no recipe for $(uname -s) on $(uname -m); README.md says what is needed" ;;
	esac
}

# prebuilt takes the libraries out of the package for this system.
prebuilt() {
	local package=@node-llama-cpp/$1
	[[ $backend == cpu ]] || package+=-$backend
	fetch "$package"
	cp "$work/$package"/bins/*/lib*.so "$out/"
	rm -f "$out"/libllama-common.so # of the command-line tools
}

# compile builds the libraries from the sources.
compile() {
	need cmake "FROM=source compiles llama.cpp"
	local origin="\$ORIGIN"
	[[ $system == mac ]] && origin=@loader_path
	# The libraries find each other beside themselves, wherever they are put.
	local options=(-DCMAKE_BUILD_TYPE=Release -DCMAKE_BUILD_WITH_INSTALL_RPATH=ON "-DCMAKE_INSTALL_RPATH=$origin" -DBUILD_SHARED_LIBS=ON -DGGML_OPENMP=ON -DGGML_BACKEND_DL=OFF
		-DLLAMA_CURL=OFF -DLLAMA_OPENSSL=OFF -DLLAMA_BUILD_COMMON=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_TOOLS=OFF -DLLAMA_BUILD_EXAMPLES=OFF
		-DLLAMA_BUILD_SERVER=OFF -DLLAMA_BUILD_APP=OFF)
	case $backend in
	vulkan) options+=(-DGGML_VULKAN=ON) ;;
	cuda) options+=(-DGGML_CUDA=ON) ;;
	esac
	cmake -S "$work/llama.cpp" -B "$work/build" "${options[@]}" >"$work/log" 2>&1 || { tail -30 "$work/log" >&2 && fail "cmake failed"; }
	cmake --build "$work/build" --parallel "${JOBS:-2}" --target llama >"$work/log" 2>&1 || { tail -30 "$work/log" >&2 && fail "the compiler failed"; }
	find "$work/build" \( -name 'lib*.so*' -o -name 'lib*.dylib' \) -exec cp -PR {} "$out/" \;
}

# over compiles llama-server over the libraries of the package for this system, which compute; the rest is not worth optimising.
over() {
	local kept file list=$work/server.list ui=$work/ui
	kept=$cache/llama-server-$(cat "$here/build.sh" <("${CXX:-c++}" --version) | cksum | cut -d' ' -f1)
	cp "$work/@node-llama-cpp/$system"/bins/*/libllama-common.so "$out/"
	if [[ -x $kept ]]; then
		cp "$kept" "$out/llama-server"
		return
	fi
	mkdir -p "$ui" "$work/server"
	cmake "-DUI_SOURCE_DIR=$work/llama.cpp/tools/ui" "-DUI_BINARY_DIR=$ui" "-DLLAMA_SOURCE_DIR=$work/llama.cpp" -DLLAMA_BUILD_NUMBER=0 \
		-DHF_ENABLED=OFF -DBUILD_UI=OFF -DLLAMA_UI_GZIP=OFF -P "$work/llama.cpp/scripts/ui-assets.cmake" >"$work/log" 2>&1 || { tail -30 "$work/log" >&2 && fail "cmake failed for the server"; }
	(
		cd "$work/llama.cpp"
		for file in tools/mtmd/models/*.cpp; do # in one go: most of their time are the same headers
			echo "#include \"$PWD/$file\""
		done >"$work/models.cpp"
		printf '%s\n' tools/server/*.cpp tools/mtmd/*.cpp vendor/hash/hash.cpp vendor/hash/sha*/*.c vendor/hash/xxhash/*.c "$work/models.cpp" "$ui/ui.cpp" |
			grep -v 'mtmd-cli\|debug\|deprecation' >"$list"
		xargs -a "$list" -P "${JOBS:-2}" -I{} sh -c '
			case {} in *.c) language=c ;; *) language=c++ ;; esac
			case {} in *sha1.c) language=c++ ;; esac
			[ $language = c ] || standard=-std=c++17
			"${CXX:-c++}" $standard -O0 -w -DLLAMA_SHARED -DGGML_SHARED -DGGML_BACKEND_SHARED -DLLAMA_SUBPROCESS -Iinclude -Iggml/include -Icommon \
				-Ivendor -Ivendor/hash -Itools/mtmd -Itools/server -I"$1" -I. -x $language -c {} -o "$2/$(echo {} | tr / _).o"' sh "$ui" "$work/server"
	) >"$work/log" 2>&1 || { tail -30 "$work/log" >&2 && fail "the compiler failed for the server"; }
	# shellcheck disable=SC2016 # the linker reads it
	"${CXX:-c++}" -o "$out/llama-server" "$work/server"/*.o "$out"/libllama-common.so "$out"/libllama.*.so "$out"/libggml.*.so "$out"/libggml-base.so \
		-pthread -Wl,-rpath,'$ORIGIN'
	cp "$out/llama-server" "$kept.$$" && mv "$kept.$$" "$kept"
}

# server compiles llama-server, with all that it needs in itself where no libraries are built.
server() {
	if [[ $from == prebuilt && $backend == cpu ]]; then
		need cmake "SERVER=1 compiles llama-server"
		over
		return
	fi
	need cmake "SERVER=1 compiles llama-server"
	cmake -S "$work/llama.cpp" -B "$work/server" -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF -DGGML_NATIVE=OFF -DGGML_OPENMP=OFF \
		-DLLAMA_CURL=OFF -DLLAMA_OPENSSL=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_APP=OFF \
		-DLLAMA_BUILD_TOOLS=ON -DLLAMA_BUILD_SERVER=ON >"$work/log" 2>&1 || { tail -30 "$work/log" >&2 && fail "cmake failed for the server"; }
	cmake --build "$work/server" --parallel "${JOBS:-2}" --target llama-server >"$work/log" 2>&1 || { tail -30 "$work/log" >&2 && fail "the compiler failed for the server"; }
	cp "$work/server/bin/llama-server" "$out/"
}

# link builds the shim over the libraries in $out, which it finds beside itself.
link() {
	local name=libllama_go.so origin="\$ORIGIN" flags=(-shared) libraries=() lib
	if [[ $(uname -s) == Darwin ]]; then
		name=libllama_go.dylib origin=@loader_path flags=(-dynamiclib)
	fi
	for lib in "$out"/libllama.* "$out"/libggml.* "$out"/libggml-base.*; do
		[[ -L $lib ]] || libraries+=("$lib")
	done
	"${CXX:-c++}" -std=c++17 -O2 -Wall -Wextra -fPIC -fvisibility=hidden "${flags[@]}" \
		-I "$work/llama.cpp/include" -I "$work/llama.cpp/ggml/include" \
		-o "$out/$name" "$here/shim.cpp" "${libraries[@]}" -Wl,-rpath,"$origin"
	"${CXX:-c++}" -std=c++17 -O2 -Wall -Wextra -pthread -o "$work/shim_test" "$here/shim_test.cpp" -ldl
	"$work/shim_test" "$out/$name" "$root/context/embed/testdata/tiny.gguf" "$root/context/embed/testdata/tiny-rank.gguf" 2>"$work/log" || { tail -30 "$work/log" >&2 && fail "the library does not work"; }
	"${CXX:-c++}" -std=c++17 -O2 -Wall -Wextra \
		-I "$work/llama.cpp/include" -I "$work/llama.cpp/ggml/include" \
		-o "$out/llama-direct" "$here/direct.cpp" "${libraries[@]}" -Wl,-rpath,"$origin"
}

case $backend in cpu | vulkan | cuda) ;; *) fail "BACKEND is cpu, vulkan or cuda, not $backend" ;; esac
need go && need npm "the libraries come in npm packages" && need git && need "${CXX:-c++}" "a C++ compiler"
system=$(place)
from=${FROM:-prebuilt}
[[ $system == mac ]] && from=source # with Metal, which llama.cpp takes by itself
[[ $system == linux-arm64 && $backend != cpu ]] && from=source

fetch node-llama-cpp
git -c advice.detachedHead=false clone --quiet --depth 1 "$work/node-llama-cpp/llama/gitRelease.bundle" "$work/llama.cpp" 2>/dev/null
rm -rf "$out" && mkdir -p "$out"
case $from in
prebuilt) prebuilt "$system" ;;
source) compile ;;
*) fail "FROM is prebuilt or source, not $from" ;;
esac
link
[[ -z ${SERVER:-} ]] || server
cp "$work/llama.cpp/LICENSE" "$out/LICENSE.llama.cpp"
(cd "$root" && go build -trimpath -o "$bin/" ./cmd/ctxd-runner)
shown=${bin#"$root/"}
echo "$shown/ctxd-runner and $shown/llama ($backend, $from) are there."
