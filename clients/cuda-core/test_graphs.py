"""Graphs: captured by builders, and made node by node."""
import pytest

import kernels
from cuda.core.graph import GraphCompleteOptions, GraphDebugPrintOptions
from names import *


@pytest.fixture
def cell(dev, stream):
    b = put(dev, stream, np.zeros(64, np.uint32))
    yield b
    stream.sync()
    b.close(stream)


@pytest.fixture
def steer(dev):
    return ObjectCode.from_ptx(kernels.CONDITION.encode())


one = LaunchConfig(grid=1, block=1)


# -- builders -------------------------------------------------------------------------------------

def test_builder(dev, stream, basic, cell):
    g = dev.create_graph_builder().begin_building()
    assert g.is_building and not g.is_join_required
    for n in (1, 2, 3):
        launch(g, LaunchConfig(grid=1, block=n), basic.get_kernel("add_one"), cell)
    x = g.end_building().complete()
    assert get(cell, stream, np.uint32)[0] == 0
    x.upload(stream)
    for _ in range(2):
        x.launch(stream)
    assert get(cell, stream, np.uint32)[0] == 12
    x.close()
    g.close()


def test_builder_of_a_stream(dev, stream, basic, cell):
    g = stream.create_graph_builder().begin_building(mode="thread_local")
    cell.fill(1, stream=g)
    g.end_building().complete().launch(stream)
    assert (get(cell, stream) == 1).all()


def test_builder_split_and_join(dev, stream, basic, cell):
    g = dev.create_graph_builder().begin_building()
    left, right = g.split(2)
    assert right.is_join_required
    k = basic.get_kernel("add_one")
    launch(left, LaunchConfig(grid=1, block=10), k, cell)
    launch(right, LaunchConfig(grid=1, block=20), k, int(cell.handle) + 4)
    g = graphs.GraphBuilder.join(left, right)
    launch(g, LaunchConfig(grid=1, block=1), k, cell)
    x = g.end_building().complete()
    x.launch(stream)
    assert get(cell, stream, np.uint32)[:2].tolist() == [11, 20]


def test_builder_used_too_early(dev):
    g = dev.create_graph_builder()
    with pytest.raises(Exception):
        g.end_building()
    with pytest.raises(Exception):
        g.complete()


@pytest.mark.parametrize("value", [0, 1])
def test_builder_if(dev, stream, basic, steer, cell, value):
    g = dev.create_graph_builder().begin_building()
    c = builder_condition(g, 0)
    launch(g, one, steer.get_kernel("choose"), np.uint64(condition_value(c)), np.uint32(value))
    body = builder_if(g, c).begin_building()
    launch(body, LaunchConfig(grid=1, block=5), basic.get_kernel("add_one"), cell)
    body.end_building()
    g.end_building().complete().launch(stream)
    assert get(cell, stream, np.uint32)[0] == 5 * value


@pytest.mark.parametrize("value", [0, 1])
def test_builder_if_else(dev, stream, basic, steer, cell, value):
    g = dev.create_graph_builder().begin_building()
    c = builder_condition(g, 0)
    launch(g, one, steer.get_kernel("choose"), np.uint64(condition_value(c)), np.uint32(value))
    for body, n in zip(g.if_else(c), (5, 7)):
        body.begin_building()
        launch(body, LaunchConfig(grid=1, block=n), basic.get_kernel("add_one"), cell)
        body.end_building()
    g.end_building().complete().launch(stream)
    assert get(cell, stream, np.uint32)[0] == (5 if value else 7)


@pytest.mark.parametrize("value", [0, 2, 3])
def test_builder_switch(dev, stream, basic, steer, cell, value):
    g = dev.create_graph_builder().begin_building()
    c = builder_condition(g, value)
    for body, n in zip(g.switch(c, 3), (5, 6, 7)):
        body.begin_building()
        launch(body, LaunchConfig(grid=1, block=n), basic.get_kernel("add_one"), cell)
        body.end_building()
    g.end_building().complete().launch(stream)
    assert get(cell, stream, np.uint32)[0] == (5, 6, 7, 0)[value]


def test_builder_while(dev, stream, steer, cell):
    g = dev.create_graph_builder().begin_building()
    c = builder_condition(g, 1)
    body = g.while_loop(c).begin_building()
    launch(body, one, steer.get_kernel("more"), np.uint64(condition_value(c)), cell, np.uint32(12))
    body.end_building()
    g.end_building().complete().launch(stream)
    assert get(cell, stream, np.uint32)[0] == 12


@pytest.mark.skipif(not NEW, reason="0.7.0 calls cuGraphAddChildGraphNode of bindings 12.9 with an argument missing")
def test_builder_child(dev, stream, basic, cell):
    k = basic.get_kernel("add_one")
    child_graph = dev.create_graph_builder().begin_building()
    launch(child_graph, LaunchConfig(grid=1, block=4), k, cell)
    child_graph.end_building()
    g = dev.create_graph_builder().begin_building()
    builder_child(g, child_graph)
    launch(g, one, k, cell)
    g.end_building().complete().launch(stream)
    assert get(cell, stream, np.uint32)[0] == 5


def test_builder_callback(dev, stream):
    got = []
    g = dev.create_graph_builder().begin_building()
    g.callback(lambda: got.append(1))
    x = g.end_building().complete()
    x.launch(stream)
    x.launch(stream)
    stream.sync()
    assert got == [1, 1]


def test_builder_dot(dev, basic, tmp_path):
    g = dev.create_graph_builder().begin_building()
    launch(g, one, basic.get_kernel("empty"))
    g.end_building()
    p = tmp_path / "graph.dot"
    g.debug_dot_print(str(p) if NEW else bytes(p), GraphDebugPrintOptions(verbose=True))
    assert p.read_text().startswith("digraph")


def test_update(dev, stream, basic, cell):
    def build(n):
        g = dev.create_graph_builder().begin_building()
        launch(g, LaunchConfig(grid=1, block=n), basic.get_kernel("add_one"), cell)
        return g.end_building()

    x = build(3).complete()
    x.launch(stream)
    x.update(build(30))
    x.launch(stream)
    assert get(cell, stream, np.uint32)[0] == 33


def test_update_of_another_shape(dev, stream, basic, cell):
    a = dev.create_graph_builder().begin_building()
    launch(a, one, basic.get_kernel("empty"))
    x = a.end_building().complete()
    b = dev.create_graph_builder().begin_building()
    cell.fill(1, stream=b)
    with pytest.raises(Exception) as e:
        x.update(b.end_building())
    assert "UPDATE" in str(e.value).upper()


@pytest.mark.parametrize("options", [dict(auto_free_on_launch=True), dict(use_node_priority=True)])
def test_complete_options(dev, stream, basic, cell, options):
    g = dev.create_graph_builder().begin_building()
    launch(g, one, basic.get_kernel("add_one"), cell)
    g.end_building().complete(GraphCompleteOptions(**options)).launch(stream)
    assert get(cell, stream, np.uint32)[0] == 1


def test_complete_with_upload(dev, stream, basic, cell):
    g = dev.create_graph_builder().begin_building()
    launch(g, one, basic.get_kernel("add_one"), cell)
    g.end_building().complete(GraphCompleteOptions(upload_stream=stream)).launch(stream)
    assert get(cell, stream, np.uint32)[0] == 1


# -- node by node ---------------------------------------------------------------------------------

def run(g, stream, times=1):
    x = g.instantiate()
    for _ in range(times):
        x.launch(stream)
    stream.sync()
    x.close()


def test_nodes(dev, stream, basic, cell):
    g = Graph()
    a = g.memset(int(cell.handle), np.uint32(100).tobytes(), 1)
    b = a.launch(LaunchConfig(grid=1, block=8), basic.get_kernel("add_one"), cell)
    c = b.memcpy(int(cell.handle) + 4, int(cell.handle), 4)
    assert len(g.nodes()) == 3 and len(g.edges()) == 2
    assert set(b.pred) == {a} and set(b.succ) == {c}
    assert isinstance(b, graphs.KernelNode) and b.grid == (1, 1, 1) and b.block == (8, 1, 1) and b.shmem_size == 0
    assert isinstance(a, graphs.MemsetNode) and a.dptr == int(cell.handle) and a.width == 1 and a.element_size == 4
    assert isinstance(c, graphs.MemcpyNode) and (c.dst, c.src, c.size) == (int(cell.handle) + 4, int(cell.handle), 4)
    run(g, stream)
    assert get(cell, stream, np.uint32)[:2].tolist() == [108, 108]


def test_nodes_join(dev, stream, basic, cell):
    g = Graph()
    k = basic.get_kernel("add_one")
    a, b = (g.launch(LaunchConfig(grid=1, block=n), k, cell) for n in (1, 2))
    j = a.join(b)
    assert isinstance(j, graphs.EmptyNode) and set(j.pred) == {a, b}
    j.launch(LaunchConfig(grid=1, block=4), k, cell)
    run(g, stream, 2)
    assert get(cell, stream, np.uint32)[0] == 14


def test_nodes_memory(dev, stream, basic):
    g = Graph()
    out = pinned.allocate(4096, stream=stream)
    a = node_alloc(g, 4096)
    assert isinstance(a, graphs.AllocNode) and a.bytesize == 4096 and a.dptr
    b = a.memset(a.dptr, 6, 4096).memcpy(int(out.handle), a.dptr, 4096)
    f = node_free(b, a.dptr)
    assert isinstance(f, graphs.FreeNode) and f.dptr == a.dptr
    run(g, stream, 2)
    assert (view(out) == 6).all()
    out.close(stream)


def test_nodes_events(dev, stream, cell):
    e = dev.create_event(event_options(timing=True))
    g = Graph()
    r = node_record(g.memset(int(cell.handle), 1, 4), e)
    w = node_wait(r, e)
    assert isinstance(r, graphs.EventRecordNode) and isinstance(w, graphs.EventWaitNode) and r.event == e
    run(g, stream)
    assert e.is_done


def test_nodes_callback(dev, stream):
    got = []
    g = Graph()
    n = g.callback(lambda: got.append("called"))
    assert isinstance(n, graphs.HostCallbackNode)
    run(g, stream)
    assert got == ["called"]


def test_nodes_callback_in_c(dev, stream):
    got = []
    fn = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda p: got.append(ctypes.string_at(p, 3)))
    g = Graph()
    g.callback(fn, user_data=b"abc")
    run(g, stream)
    assert got == [b"abc"]


def test_nodes_embed(dev, stream, basic, cell):
    sub = Graph()
    sub.launch(LaunchConfig(grid=1, block=3), basic.get_kernel("add_one"), cell)
    g = Graph()
    n = g.embed(sub)
    assert isinstance(n, graphs.ChildGraphNode) and len(n.child_graph.nodes()) == 1
    n.launch(LaunchConfig(grid=1, block=4), basic.get_kernel("add_one"), cell)
    run(g, stream)
    assert get(cell, stream, np.uint32)[0] == 7


@pytest.mark.parametrize("value", [0, 1])
def test_nodes_if(dev, stream, basic, steer, cell, value):
    g = Graph()
    c = g.create_condition(default_value=value)
    n = node_if(g, c)
    assert isinstance(n, graphs.IfNode)
    n.then.launch(LaunchConfig(grid=1, block=3), basic.get_kernel("add_one"), cell)
    run(g, stream)
    assert get(cell, stream, np.uint32)[0] == 3 * value


def test_nodes_if_else(dev, stream, basic, cell):
    g = Graph()
    n = g.if_else(g.create_condition(default_value=0))
    n.then.launch(LaunchConfig(grid=1, block=3), basic.get_kernel("add_one"), cell)
    n.else_.launch(LaunchConfig(grid=1, block=4), basic.get_kernel("add_one"), cell)
    run(g, stream)
    assert get(cell, stream, np.uint32)[0] == 4


def test_nodes_while(dev, stream, steer, cell):
    g = Graph()
    c = g.create_condition(default_value=1)
    n = g.while_loop(c)
    n.body.launch(one, steer.get_kernel("more"), np.uint64(int(c.handle)), cell, np.uint32(9))
    run(g, stream)
    assert get(cell, stream, np.uint32)[0] == 9


def test_nodes_switch(dev, stream, basic, cell):
    g = Graph()
    n = g.switch(g.create_condition(default_value=2), 4)
    assert isinstance(n, graphs.SwitchNode) and len(n.branches) == 4
    for i, b in enumerate(n.branches):
        b.launch(LaunchConfig(grid=1, block=10 + i), basic.get_kernel("add_one"), cell)
    run(g, stream)
    assert get(cell, stream, np.uint32)[0] == 12


def test_nodes_dot(dev, basic, tmp_path):
    g = Graph()
    g.launch(one, basic.get_kernel("empty")).launch(one, basic.get_kernel("empty"))
    p = tmp_path / "graph.dot"
    g.debug_dot_print(str(p))
    assert "->" in p.read_text()


def test_nodes_destroyed(dev, basic):
    g = Graph()
    a = g.empty()
    b = a.launch(one, basic.get_kernel("empty"))
    b.destroy()
    assert not b.is_valid and g.nodes() == {a}


def test_nodes_edges_changed(dev):
    g = Graph()
    a, b, c = g.empty(), g.empty(), g.empty()
    b.pred = {a}
    c.pred.add(b)
    assert g.edges() == {(a, b), (b, c)}
    c.pred.discard(b)
    assert g.edges() == {(a, b)}


@pytest.mark.skipif(not NEW, reason="came with 1.2")
def test_nodes_updated(dev, stream, basic, cell):
    g = Graph()
    n = g.launch(LaunchConfig(grid=1, block=3), basic.get_kernel("add_one"), cell)
    m = n.memset(int(cell.handle) + 8, 1, 4)
    n.update(config=LaunchConfig(grid=1, block=5))
    m.update(value=2)
    assert n.block == (5, 1, 1) and m.value == 2
    run(g, stream)
    assert get(cell, stream, np.uint32)[:3].tolist() == [5, 0, 0x02020202]


@pytest.mark.skipif(not NEW, reason="came with 1.2")
def test_instance_nodes_updated(dev, stream, basic, cell):
    g = Graph()
    k = basic.get_kernel("add_one")
    n = g.launch(LaunchConfig(grid=1, block=3), k, cell)
    m = n.memset(int(cell.handle) + 8, 1, 4)
    x = g.instantiate()
    x[n].update(config=LaunchConfig(grid=1, block=6), kernel=k, args=(cell,))
    x[m].update(dst=int(cell.handle) + 12, value=2, width=4)
    x.launch(stream)
    assert get(cell, stream, np.uint32)[:4].tolist() == [6, 0, 0, 0x02020202]
    x[n].disable()
    assert not x[n].is_enabled
    x.launch(stream)
    assert get(cell, stream, np.uint32)[0] == 6
    x[n].enable()
    x.launch(stream)
    assert get(cell, stream, np.uint32)[0] == 12
    x.close()


def test_graph_launched_often(dev, stream, basic, cell):
    g = dev.create_graph_builder().begin_building()
    for _ in range(20):
        launch(g, LaunchConfig(grid=2, block=32), basic.get_kernel("add_one"), cell)
    x = g.end_building().complete()
    for _ in range(50):
        x.launch(stream)
    assert get(cell, stream, np.uint32)[0] == 20 * 64 * 50
    x.close()


def test_graph_of_many_branches(dev, stream, basic, cell):
    g = dev.create_graph_builder().begin_building()
    parts = g.split(10)
    for i, p in enumerate(parts):
        launch(p, LaunchConfig(grid=1, block=i + 1), basic.get_kernel("add_one"), int(cell.handle) + 4 * i)
    g = graphs.GraphBuilder.join(*parts)
    g.end_building().complete().launch(stream)
    assert get(cell, stream, np.uint32)[:10].tolist() == list(range(1, 11))


def test_memory_in_a_builder(dev, stream, basic):
    out = pinned.allocate(1024, stream=stream)
    mr = core.GraphMemoryResource(dev)
    g = dev.create_graph_builder().begin_building()
    a, b = mr.allocate(1024, stream=g), mr.allocate(1024, stream=g)
    launch(g, LaunchConfig(grid=1, block=256), basic.get_kernel("fill"), a, np.uint32(8), np.uint32(256))
    b.copy_from(a, stream=g)
    a.close(g)
    out.copy_from(b, stream=g)
    b.close(g)
    x = g.end_building().complete()
    for _ in range(3):
        view(out)[:] = 0
        x.launch(stream)
        stream.sync()
        assert (view(out, np.uint32) == 8).all()
    x.close()
    out.close(stream)
