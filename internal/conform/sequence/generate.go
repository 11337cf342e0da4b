package sequence

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/gocuda/cuda/internal/driver"
)

// Step is a call with what the model predicts of its result.
type Step struct {
	Call
	Want []driver.CUresult // nil when nothing is predicted
}

// Options are what a generator may do.
type Options struct {
	Length  int              // calls, about
	Threads int              // up to so many
	Facts   map[string]Facts // by function; without them nothing is predicted where no context is current
	// Undefined lets sequences use handles whose life has ended where the driver's behaviour is undefined: for the
	// software device alone.
	Undefined bool
}

// Facts say what a function answers to zeros where no context is current, and where one is; a function that asks for a
// context first is known by the two.
type Facts struct{ NoContext, Context driver.CUresult }

// object is a handle of a sequence, or an address.
type object struct {
	kind, name string
	parent     *object // ends with it
	ctx        *object // in which it was made
	dead       bool
	stale      bool // dead by a call of its own, and safe to use again: the driver answers with a code (recorded)

	what     string   // a function's name; a stream's flags
	capture  *capture // of a stream, an event
	mapped   bool     // of a reservation
	foreign  bool     // an object of which the model does not know all
	children []*object
}

// generator makes one sequence.
type generator struct {
	o     Options
	r     *rand.Rand
	steps []Step
	objs  map[string][]*object
	count map[string]int

	threads []*threadState
	model
}

// templates are by topic.
var templates = func() map[string][]template {
	m := map[string][]template{}
	for _, t := range parseTemplates(templateText) {
		m[t.topic] = append(m[t.topic], t)
	}
	return m
}()

// Topics are the topics of templates, each with those that a sequence about it draws from besides.
var topics = map[string][]string{
	"device": {"context", "memory"}, "context": {"stream", "event", "memory"}, "stream": {"event", "memory"},
	"event":  {"stream", "memory"},
	"memory": {"stream", "pool"}, "pool": {"stream", "memory"}, "virtual": {"memory"}, "module": {"memory", "stream"},
	"library": {"memory", "module"},
	"link":    {"library"}, "capture": {"capture", "capture", "memory", "graph", "stream", "event", "context",
		"module"}, "graph": {"graph", "stream", "module", "memory"},
	"node": {"node", "node", "graph", "exec"}, "exec": {"exec", "exec", "graph", "node", "stream"},
	"texture": {"memory", "module", "texobject"}, "texobject": {"texture", "texobject"},
	"texref": {"texref", "texture"}, "managed": {"managed", "managed", "memory", "stream"},
	"memop": {"stream", "memory"}, "green": {"context", "event"}, "external": {"device"},
	"use": {"module", "library", "stream", "memory"},
}

// Topics lists the topics that Generate knows.
func Topics() []string {
	var list []string
	for t := range topics {
		list = append(list, t)
	}
	slices.Sort(list)
	return list
}

// Generate makes the sequence of a seed.
func Generate(seed uint64, o Options) []Step {
	g := &generator{o: o, r: rand.New(rand.NewPCG(seed, 13)), objs: map[string][]*object{}, count: map[string]int{}}
	g.pending = map[*object]bool{}
	g.threads, g.current = []*threadState{nil, {}}, 1
	names := Topics()
	topic := names[seed%uint64(len(names))]
	g.start(topic)
	end := max(len(g.steps)+o.Length*2/3, o.Length)
	for tries := 0; len(g.steps) < end && tries < o.Length*30; tries++ {
		from := topic
		if g.r.IntN(3) == 0 {
			from = topics[topic][g.r.IntN(len(topics[topic]))]
		}
		if from == "use" {
			g.use()
			continue
		}
		g.try(g.choose(templates[from]))
	}
	g.finish()
	return g.steps
}

func (g *generator) choose(list []template) template {
	sum := 0
	for _, t := range list {
		sum += t.weight
	}
	n := g.r.IntN(sum)
	for _, t := range list {
		if n -= t.weight; n < 0 {
			return t
		}
	}
	return list[0]
}

// emit adds a line that the generator needs; it is expected to succeed, and its effects are the caller's matter.
func (g *generator) emit(line string, want ...driver.CUresult) {
	c, err := Parse(line)
	if err != nil {
		panic(err)
	}
	g.steps = append(g.steps, Step{c, want})
}

func (g *generator) fresh(kind string) string {
	g.count[kind]++
	return kind + strconv.Itoa(g.count[kind])
}

func (g *generator) add(o *object) *object {
	for _, list := range g.objs { // the new one may be where an old one was
		for _, x := range list {
			x.stale = false
		}
	}
	g.objs[o.kind] = append(g.objs[o.kind], o)
	if o.parent != nil {
		o.parent.children = append(o.parent.children, o)
	}
	return o
}

// start sets the stage: a context, and what the topic mostly needs.
func (g *generator) start(topic string) {
	t := g.threads[1]
	g.emit("cuInit(0)", driver.CUDA_SUCCESS)
	ctx := g.add(&object{kind: "ctx", name: g.fresh("ctx"), what: "primary"})
	g.emit("cuDevicePrimaryCtxRetain(&+ctx1, 0)", driver.CUDA_SUCCESS)
	if topic == "context" || topic == "device" {
		if g.r.IntN(3) == 0 {
			return
		}
	}
	g.emit("cuCtxSetCurrent(ctx1)", driver.CUDA_SUCCESS)
	t.stack = []*object{ctx}
	g.current = 1
	for _, need := range strings.Fields(needs[topic]) {
		g.need(need)
	}
}

// needs are what sequences about a topic begin with.
var needs = map[string]string{
	"stream": "stream event mem", "event": "stream event mem", "memory": "mem stream", "pool": "stream pool",
	"virtual": "phys va", "module": "mod add nop mem stream", "library": "lib kern mem", "link": "link",
	"capture": "stream stream event mem mod add", "graph": "junk mod add nop graph stream",
	"node":    "junk mod add nop event graph enode knode mnode cnode hnode rnode wnode clone chnode bnode anode",
	"exec":    "junk mod add nop event stream graph enode knode mnode cnode hnode rnode wnode clone chnode bnode exec",
	"texture": "arr sarr mip mem mod texref", "texobject": "arr sarr mem tex surf",
	"texref": "arr sarr mip mem mod nop texref surfref ownref", "managed": "stream mem managed pinned",
	"memop": "stream mem", "use": "stream mod spin nop mem flag",
}

// need makes one thing of a kind with a plain call.
func (g *generator) need(kind string) {
	t := g.thread()
	ctx := t.top()
	o := &object{kind: kind, ctx: ctx}
	last := func(kind string) *object { l := g.objs[kind]; return l[len(l)-1] }
	var line string
	switch kind {
	case "stream":
		o.what = []string{"0", "1"}[g.r.IntN(2)]
		line = "cuStreamCreate(&+%, " + o.what + ")"
	case "event":
		line = "cuEventCreate(&+%, 0)"
	case "mem", "junk":
		line = "cuMemAlloc_v2(&+%, 65536)"
	case "flag":
		line = "cuMemHostAlloc(&+%, 4096, 2)"
	case "pool":
		line = "cuMemPoolCreate(&+%, {AllocType:1 Location.Type:1})"
	case "phys":
		line = "cuMemCreate(&+%, 2097152, {Type:1 Location.Type:1}, 0)"
	case "va":
		line = "cuMemAddressReserve(&+%, 4194304, 0, NULL, 0)"
	case "mod":
		line = "cuModuleLoadData(&+%, @ptx)"
	case "add", "nop", "spin", "st1":
		o.kind, o.what, o.parent = "func", kind, last("mod")
		line = "cuModuleGetFunction(&+%, " + o.parent.name + ", \"" + kind + "\")"
	case "lib":
		line = "cuLibraryLoadData(&+%, @ptx, NULL, NULL, 0, NULL, NULL, 0)"
	case "kern":
		o.parent, o.what = last("lib"), "st1"
		line = "cuLibraryGetKernel(&+%, " + o.parent.name + ", \"st1\")"
	case "link":
		line = "cuLinkCreate_v2(0, NULL, NULL, &+%)"
	case "graph":
		line = "cuGraphCreate(&+%, 0)"
	case "arr":
		line = "cuArrayCreate_v2(&+%, {Width:64 Height:16 Format:32 NumChannels:1})"
	case "texref":
		o.parent = last("mod")
		line = "cuModuleGetTexRef(&+%, " + o.parent.name + ", \"tex0\")"
	default:
		g.needByTemplate(kind)
		return
	}
	o.name = g.fresh(o.kind)
	g.emit(g.prefix()+strings.Replace(line, "%", o.name, 1), driver.CUDA_SUCCESS)
	g.add(o)
	if kind == "mem" || kind == "junk" {
		g.emit(g.prefix()+"cuMemsetD8_v2("+o.name+", 0, 65536)", driver.CUDA_SUCCESS)
	}
	if kind == "flag" {
		g.emit("set "+o.name+" 0", driver.CUDA_SUCCESS)
	}
}

// needByTemplate makes one thing of a kind as the templates say.
func (g *generator) needByTemplate(kind string) {
	var list []template
	for _, topic := range []string{"graph", "exec", "node", "texture", "texobject", "texref", "module", "managed"} {
		for _, t := range templates[topic] {
			if _, after, ok := strings.Cut(t.text, "&+"+kind); ok && strings.IndexByte(",^)", after[0]) >= 0 {
				list = append(list, t)
			}
		}
	}
	for range 30 {
		if len(g.find(kind)) > 0 {
			return
		}
		g.try(g.choose(list))
	}
}

func (g *generator) prefix() string {
	if g.current == 1 {
		return ""
	}
	return "[" + strconv.Itoa(g.current) + "] "
}

// finish ends captures, and waits.
func (g *generator) finish() {
	for _, s := range g.objs["stream"] {
		if !s.dead && s.capture != nil && s.capture.origin == s {
			g.current = s.capture.thread
			g.emit(g.prefix()+"cuStreamEndCapture("+s.name+", &_)", nil...)
			s.capture.end()
		}
	}
	g.current = 1
	g.emit("cuCtxSynchronize()", nil...)
	for _, m := range g.objs["mem"] {
		if !m.dead && m.ctx == g.thread().top() && !m.foreign {
			g.emit("cuMemcpyDtoH_v2(&w4, "+m.name+", 16)", nil...)
			break
		}
	}
}

// picked is what a template was filled with.
type picked struct {
	text    strings.Builder
	bound   map[string]*object // the last of a kind
	all     []*object
	made    []*object
	under   []string // the kind of parent of each that is made
	ends    *object
	codes   []driver.CUresult // results that arguments lead to
	unknown bool
	fail    bool // something that it needs is not there
}

// try fills a template and adds the call, when all that it needs is there.
func (g *generator) try(t template) {
	if len(g.threads) > 1 && g.o.Threads > 1 && g.r.IntN(6) == 0 {
		g.switchThread()
	}
	p := &picked{bound: map[string]*object{}}
	g.fill(p, t.text)
	if p.fail {
		return
	}
	for i, o := range p.made {
		o.parent = p.bound[p.under[i]] // nil for a parent that is NULL: then the call fails
	}
	c, err := Parse(g.prefix() + p.text.String())
	if err != nil {
		panic(t.text + ": " + err.Error())
	}
	if !g.allowed(c.Fn, p) {
		return
	}
	g.perform(c, p)
}

// fill expands a text.
func (g *generator) fill(p *picked, s string) {
	for i := 0; i < len(s) && !p.fail; {
		switch {
		case s[i] == '$':
			end := strings.IndexByte(s[i+1:], '$') + i + 1
			parts := split(s[i+1:end], '|')
			if s[i+1:end] == "" || len(parts) == 0 {
				panic(s)
			}
			g.fill(p, parts[g.r.IntN(len(parts))])
			i = end + 1
		case s[i] == '!':
			j := i + 1
			for j < len(s) && (s[j] >= '0' && s[j] <= '9' || s[j] == '?' ||
				s[j] == ',' && j+1 < len(s) && s[j+1] >= '0' && s[j+1] <= '9') {
				j++
			}
			for _, code := range strings.Split(s[i+1:j], ",") {
				if code == "?" {
					p.unknown = true
					continue
				}
				n, err := strconv.Atoi(code)
				if err != nil {
					panic(s)
				}
				p.codes = append(p.codes, driver.CUresult(n))
			}
			i = j
		case strings.HasPrefix(s[i:], "?&"):
			if g.r.IntN(25) == 0 {
				j := i + 2
				for j < len(s) && strings.IndexByte(",)", s[j]) < 0 {
					j++
				}
				p.text.WriteString("NULL")
				p.codes = append(p.codes, driver.CUDA_ERROR_INVALID_VALUE)
				i = j
				continue
			}
			i++
		case s[i] == '%' || strings.HasPrefix(s[i:], "&+"):
			j := i + 1
			if s[i] == '&' {
				j++
			}
			mark := byte(0)
			if s[j] == '-' || s[j] == '!' {
				mark = s[j]
				j++
			}
			k := j
			for k < len(s) && (s[k] >= 'a' && s[k] <= 'z' || s[k] >= '0' && s[k] <= '9') {
				k++
			}
			kind, parent := s[j:k], ""
			if k < len(s) && s[k] == '^' {
				j = k + 1
				for k = j; k < len(s) && s[k] >= 'a' && s[k] <= 'z'; k++ {
				}
				parent = s[j:k]
			}
			if s[i] == '&' {
				g.make(p, kind, parent)
			} else {
				g.pick(p, kind, parent, mark)
			}
			i = k
		default:
			p.text.WriteByte(s[i])
			i++
		}
	}
}

// make names a new handle.
func (g *generator) make(p *picked, kind, parent string) {
	o := &object{kind: kind, name: g.fresh(kind), ctx: g.thread().top()}
	p.made = append(p.made, o)
	p.under = append(p.under, parent)
	p.text.WriteString("&+" + o.name)
}

// nullCode is what NULL for a handle of a kind leads to; 0 is what a stream may be.
func nullCode(kind string) (driver.CUresult, bool) {
	switch kind {
	case "event", "mod", "lib", "arr", "mip", "texref", "surfref":
		return driver.CUDA_ERROR_INVALID_HANDLE, true
	case "func", "kern":
		return 0, true // of either kind, by the function
	case "graph", "exec", "pool", "node", "user", "phys":
		return driver.CUDA_ERROR_INVALID_VALUE, true
	}
	return 0, false
}

// pick writes a handle.
func (g *generator) pick(p *picked, kind, parent string, mark byte) {
	if kind == "stream" && mark == 0 && g.r.IntN(4) == 0 {
		p.text.WriteString([]string{"NULL", "NULL", "1", "2"}[g.r.IntN(4)])
		p.bound["legacy"] = &object{kind: "legacy"}
		p.all = append(p.all, p.bound["legacy"])
		return
	}
	if code, ok := nullCode(kind); ok && mark == 0 && parent == "" && g.r.IntN(30) == 0 {
		p.text.WriteString("NULL")
		if code == 0 {
			p.codes = append(p.codes, driver.CUDA_ERROR_INVALID_VALUE)
			code = driver.CUDA_ERROR_INVALID_HANDLE
		}
		p.codes = append(p.codes, code)
		p.bound[kind] = nil
		return
	}
	list := g.find(kind)
	if g.o.Undefined && mark == 0 && parent == "" && len(g.objs[kind]) > 0 && g.r.IntN(6) == 0 {
		list, p.unknown = g.objs[kind], true
	}
	if parent != "" {
		of := p.bound[parent]
		list = slices.DeleteFunc(slices.Clone(list), func(o *object) bool { return of == nil || o.parent != of })
	}
	if len(list) == 0 {
		p.fail = true
		return
	}
	n := g.r.IntN(len(list))
	if g.r.IntN(2) == 0 {
		n = len(list) - 1
	}
	o := list[n]
	p.bound[kind], p.bound[o.kind] = o, o
	p.all = append(p.all, o)
	if mark == '-' {
		p.ends = o
	}
	p.text.WriteString(o.name)
}

// find lists what lives of a kind, or of what templates call by a name of its own.
func (g *generator) find(kind string) []*object {
	where := func(kind string, ok func(o *object) bool) []*object {
		var l []*object
		for _, o := range g.objs[kind] {
			if ok(o) {
				l = append(l, o)
			}
		}
		return l
	}
	live := func(o *object) bool { return !o.dead }
	switch kind {
	case "capstream", "ownstream":
		return where("stream", func(o *object) bool { return !o.dead && o.capture == nil })
	case "idle":
		return where("stream", func(o *object) bool { return !o.dead && o.capture == nil })
	case "capturing":
		return where("stream", func(o *object) bool { return !o.dead && o.capture != nil })
	case "capevent":
		return where("event", func(o *object) bool { return !o.dead && o.capture != nil && !o.capture.ended })
	case "stalemem", "stalemod", "stalefunc", "stalegraph":
		return where(strings.TrimPrefix(kind, "stale"), func(o *object) bool { return o.stale })
	case "gvar4":
		return where("gvar", func(o *object) bool { return !o.dead && o.what == "gvar" })
	case "nop", "st1", "add", "setg", "smem", "spin":
		return where("func", func(o *object) bool { return !o.dead && o.what == kind })
	case "func1":
		return where("func", func(o *object) bool { return !o.dead && o.what == "add" })
	case "freeva":
		return where("va", func(o *object) bool { return !o.dead && !o.mapped })
	case "mappedva":
		return where("va", func(o *object) bool { return !o.dead && o.mapped })
	case "junk":
		if l := where("junk", live); len(l) > 0 {
			return l
		}
		return where("mem", live)
	case "node":
		var l []*object
		for _, k := range nodeKinds {
			l = append(l, where(k, live)...)
		}
		return l
	}
	return where(kind, live)
}

var nodeKinds = []string{"enode", "knode", "mnode", "cnode", "hnode", "rnode", "wnode", "chnode", "bnode", "anode"}

// end ends the life of an object and of what ends with it.
func (o *object) end() {
	o.dead = true
	for _, c := range o.children {
		c.end()
	}
}
