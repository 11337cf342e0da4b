# Read by the run scripts of Python clients: `environment NAME PACKAGE...` makes $CLIENT_ENV/NAME with these packages and sets $python.
# With CLIENT_LIB=system and the packages at hand (a machine without network), CLIENT_PYTHON names the Python to use as it is.
environment() {
	local name=$1
	shift
	if [ -n "${CLIENT_PYTHON:-}" ]; then
		python=$CLIENT_PYTHON
		return
	fi
	local dir=$CLIENT_ENV/$name
	python=$dir/bin/python
	local want="$*"
	if [ "$(cat "$dir/.packages" 2>/dev/null)" != "$want" ]; then
		rm -rf "$dir"
		mkdir -p "$CLIENT_ENV"
		python3 -m venv "$dir" >&2
		"$dir/bin/pip" install -q --disable-pip-version-check "$@" >&2
		echo "$want" >"$dir/.packages"
	fi
}

# folder NAME PACKAGE... unpacks these packages, without what they depend on, into $CLIENT_ENV/NAME, where no Python finds them: libraries and headers.
folder() {
	local dir=$CLIENT_ENV/$1
	shift
	local want="$*"
	if [ "$(cat "$dir/.packages" 2>/dev/null)" != "$want" ]; then
		rm -rf "$dir"
		python3 -m pip install -q --disable-pip-version-check --no-deps --target "$dir" "$@" >&2
		echo "$want" >"$dir/.packages"
	fi
}

# with_library COMMAND... runs a command with our library in front.
with_library() {
	if [ -n "${CLIENT_LIBDIR:-}" ]; then
		LD_LIBRARY_PATH=$CLIENT_LIBDIR${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "$@"
	else
		"$@"
	fi
}
