# Everything but libcuda is plain Go and needs no make. libcuda is the C door (docs/libcuda.md): the software device as libcuda.so.1 for programs in any language.
CC ?= gcc
GO ?= go
BUILD ?= build
FRONT = cmd/libcuda/front
RUNTIME = cmd/libcuda/cudart

# C programs may hand over anything as a pointer, which the runtime's check of its own pointers must not end the process for. And they may take away the signal stack of a
# thread (Python's faulthandler does, when pytest ends), where the next SIGURG of the runtime would end the process: it stops its goroutines without signals, which are a Go program's own.
LDFLAGS = -s -w -X runtime.godebugDefault=invalidptr=0,asyncpreemptoff=1

.PHONY: libcuda install-libcuda libcuda-programs

# The core changes with any of the module's Go files, which the go command knows better.
libcuda:
	@mkdir -p $(BUILD)
	CGO_ENABLED=1 CC=$(CC) $(GO) build -trimpath -buildmode=c-shared -ldflags '$(LDFLAGS)' -o $(BUILD)/libgocuda.so ./cmd/libcuda
	@rm -f $(BUILD)/libgocuda.h
	$(CC) -std=gnu11 -O2 -Wall -Wextra -fPIC -shared -fvisibility=hidden -Wl,-soname,libcuda.so.1 -Wl,-z,nodelete -Wl,-z,defs \
		-o $(BUILD)/libcuda.so.1 $(FRONT)/core.c $(FRONT)/front.c $(FRONT)/zz_generated_front.c -ldl -lpthread
	ln -sf libcuda.so.1 $(BUILD)/libcuda.so
	for v in 12090 13000; do n=$${v%???}; \
		$(CC) -std=gnu11 -O2 -Wall -Wextra -fPIC -shared -fvisibility=hidden -DCUDART_VERSION=$$v -Iinclude \
		-Wl,-soname,libcudart.so.$$n -Wl,--version-script=$(RUNTIME)/zz_generated_libcudart$$n.map -Wl,-z,nodelete -Wl,-z,defs \
		-o $(BUILD)/libcudart.so.$$n $(FRONT)/core.c $(RUNTIME)/cudart.c $(RUNTIME)/zz_generated_cudart.c -ldl -lpthread || exit 1; done
	ln -sf libcudart.so.13 $(BUILD)/libcudart.so

# make install-libcuda DEST=folder; then LD_LIBRARY_PATH=folder.
install-libcuda: libcuda
	@test -n "$(DEST)" || { echo "usage: make install-libcuda DEST=folder"; exit 2; }
	mkdir -p "$(DEST)"
	install -m 755 $(BUILD)/libgocuda.so $(BUILD)/libcuda.so.1 $(BUILD)/libcudart.so.12 $(BUILD)/libcudart.so.13 "$(DEST)"
	ln -sf libcuda.so.1 "$(DEST)/libcuda.so"
	ln -sf libcudart.so.13 "$(DEST)/libcudart.so"

# The C programs that check the library, a folder of them: they run on any driver that the loader finds, and each says passed.
PROGRAMS = device context memory module launch standing stream graph texture pool linker callback errors threads fork library event virtual memop occupancy tensormap green managed ipc sharing tools freed
libcuda-programs: libcuda
	mkdir -p $(BUILD)/programs
	for p in $(PROGRAMS); do $(CC) -std=gnu11 -O1 -Wall -I$(FRONT) -o $(BUILD)/programs/$$p cmd/libcuda/testdata/c/$$p.c -L$(BUILD) -lcuda -lpthread || exit 1; done
