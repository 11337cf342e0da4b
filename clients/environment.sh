# Read by the run scripts of Python clients: `environment NAME PACKAGE...` makes $CLIENT_ENV/NAME with these packages and sets $python.
# On a machine without network, CLIENT_PYTHON names the Python to use as it is, with what it has and what is in PYTHONPATH; nothing is installed then.
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
	if [ -n "${CLIENT_PYTHON:-}" ]; then
		return
	fi
	local want="$*"
	if [ "$(cat "$dir/.packages" 2>/dev/null)" != "$want" ]; then
		rm -rf "$dir"
		python3 -m pip install -q --disable-pip-version-check --no-deps --target "$dir" "$@" >&2
		echo "$want" >"$dir/.packages"
	fi
}

# starts PREFIX COMMAND... prints the line "start" of a client: the command loads the driver through the client, makes a context, and ends, in a process of its own.
starts() {
	local said status=0
	said=$(with_library timeout -k 5 120 "${@:2}" 2>&1 </dev/null) || status=$?
	if [ $status = 0 ]; then
		printf 'pass\t%sstart\n' "$1"
	else
		printf 'fail\t%sstart\tstatus %s: %s\n' "$1" $status "$(tail -1 <<<"$said")"
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
