//! Programs over what cudarc wraps of the driver API, with kernels as PTX. What is expected is what was copied in, or what the same arithmetic gives here.

use cudarc::driver::{result, sys, CudaContext, CudaSlice, DevicePtr, DevicePtrMut, DeviceRepr, DriverError, LaunchConfig, Profiler, PushKernelArg};
use cudarc::nvrtc::Ptx;
use std::ffi::{c_int, c_void};
use std::sync::Arc;

const PTX: &str = "
.version 7.8
.target sm_80
.address_size 64
.visible .global .align 4 .u32 counter = 41;
.visible .const .align 4 .u32 factor = 3;
.extern .shared .align 4 .b8 shared[];
.visible .entry scale(.param .u64 y, .param .u64 x, .param .f32 a, .param .u32 n) {
	.reg .b32 %r<6>; .reg .b64 %rd<6>; .reg .f32 %f<3>; .reg .pred %p;
	mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r1, %r1, %r2, %r3;
	ld.param.u64 %rd1, [y]; ld.param.u64 %rd2, [x]; ld.param.f32 %f1, [a]; ld.param.u32 %r4, [n];
	setp.ge.u32 %p, %r1, %r4; @%p ret;
	mul.wide.u32 %rd3, %r1, 4; add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3;
	ld.global.f32 %f2, [%rd2]; mul.rn.f32 %f2, %f2, %f1; st.global.f32 [%rd1], %f2; ret;
}
.visible .entry count(.param .u64 p) {
	.reg .b32 %r<2>; .reg .b64 %rd;
	ld.param.u64 %rd, [p]; atom.global.add.u32 %r1, [%rd], 1; ret;
}
.visible .entry variables(.param .u64 p) {
	.reg .b32 %r<4>; .reg .b64 %rd;
	ld.param.u64 %rd, [p]; ld.global.u32 %r1, [counter]; ld.const.u32 %r2, [factor]; mul.lo.u32 %r3, %r1, %r2; st.global.u32 [%rd], %r3; ret;
}
.visible .entry types(.param .u64 p, .param .u8 a, .param .s16 b, .param .s32 c, .param .u64 d, .param .f32 e, .param .f64 f, .param .align 8 .b8 g[16]) {
	.reg .b16 %h; .reg .b32 %r; .reg .b64 %rd<4>; .reg .f32 %f; .reg .f64 %fd<4>;
	ld.param.u64 %rd1, [p];
	ld.param.u8 %h, [a]; cvt.rn.f64.u16 %fd1, %h;
	ld.param.s16 %h, [b]; cvt.rn.f64.s16 %fd2, %h; add.rn.f64 %fd1, %fd1, %fd2;
	ld.param.s32 %r, [c]; cvt.rn.f64.s32 %fd2, %r; add.rn.f64 %fd1, %fd1, %fd2;
	ld.param.u64 %rd2, [d]; cvt.rn.f64.u64 %fd2, %rd2; add.rn.f64 %fd1, %fd1, %fd2;
	ld.param.f32 %f, [e]; cvt.f64.f32 %fd2, %f; add.rn.f64 %fd1, %fd1, %fd2;
	ld.param.f64 %fd2, [f]; add.rn.f64 %fd1, %fd1, %fd2;
	ld.param.u32 %r, [g]; cvt.rn.f64.u32 %fd2, %r; add.rn.f64 %fd1, %fd1, %fd2;
	ld.param.f64 %fd2, [g+8]; add.rn.f64 %fd1, %fd1, %fd2;
	st.global.f64 [%rd1], %fd1; ret;
}
.visible .entry reverse(.param .u64 x) {
	.reg .b32 %r<8>; .reg .b64 %rd<4>;
	mov.u32 %r1, %tid.x; mov.u32 %r2, %ntid.x; ld.param.u64 %rd1, [x]; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2; ld.global.u32 %r3, [%rd1];
	mov.u32 %r4, shared; shl.b32 %r5, %r1, 2; add.u32 %r5, %r4, %r5; st.shared.u32 [%r5], %r3; bar.sync 0;
	sub.u32 %r6, %r2, %r1; sub.u32 %r6, %r6, 1; shl.b32 %r6, %r6, 2; add.u32 %r6, %r4, %r6; ld.shared.u32 %r3, [%r6]; st.global.u32 [%rd1], %r3; ret;
}
.visible .entry slow(.param .u32 n) {
	.reg .b32 %r<3>; .reg .pred %p;
	ld.param.u32 %r1, [n]; mov.u32 %r2, 0;
again:
	add.u32 %r2, %r2, 1; setp.lt.u32 %p, %r2, %r1; @%p bra again; ret;
}
.visible .entry meet(.param .u64 p, .param .u32 blocks) {
	.reg .b32 %r<4>; .reg .b64 %rd; .reg .pred %p;
	ld.param.u64 %rd, [p]; ld.param.u32 %r1, [blocks]; atom.global.add.u32 %r2, [%rd], 1;
wait:
	ld.volatile.global.u32 %r3, [%rd]; setp.lt.u32 %p, %r3, %r1; @%p bra wait; ret;
}
";

type R = Result<(), DriverError>;

fn context() -> Result<Arc<CudaContext>, DriverError> {
    CudaContext::new(0)
}

fn ramp(n: usize) -> Vec<f32> {
    (0..n).map(|i| i as f32).collect()
}

fn refused<T>(r: Result<T, DriverError>, want: sys::CUresult) {
    match r {
        Ok(_) => panic!("it works, want {want:?}"),
        Err(e) => assert_eq!(e.0, want),
    }
}

#[test]
fn start() -> R {
    context()?.synchronize()?;
    Ok(())
}

#[test]
fn devices() -> R {
    let ctx = context()?;
    assert!(CudaContext::device_count()? >= 1);
    assert_eq!(ctx.ordinal(), 0);
    assert!(!ctx.name()?.is_empty());
    assert_ne!(ctx.uuid()?.bytes, [0; 16]);
    assert!(ctx.compute_capability()?.0 >= 8);
    let (free, total) = ctx.mem_get_info()?;
    assert!(0 < free && free <= total && total <= ctx.total_mem()?);
    assert_eq!(ctx.attribute(sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE)?, 32);
    refused(CudaContext::new(99), sys::CUresult::CUDA_ERROR_INVALID_DEVICE);
    Ok(())
}

#[test]
fn errors_have_names() {
    let e = DriverError(sys::CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_eq!(e.error_name().unwrap().to_str().unwrap(), "CUDA_ERROR_ILLEGAL_ADDRESS");
    assert_eq!(e.error_string().unwrap().to_str().unwrap(), "an illegal memory access was encountered");
}

#[test]
fn primary_and_other_contexts() -> R {
    let primary = context()?;
    assert!(primary.is_primary());
    assert_eq!(primary.cu_ctx(), context()?.cu_ctx());
    let other = CudaContext::new_non_primary(0, 0)?;
    assert!(!other.is_primary());
    assert_ne!(primary.cu_ctx(), other.cu_ctx());
    other.bind_to_thread()?;
    assert_eq!(result::ctx::get_current()?, Some(other.cu_ctx()));
    let s = other.default_stream();
    let a = s.clone_htod(&ramp(100))?;
    assert_eq!(s.clone_dtoh(&a)?, ramp(100));
    primary.bind_to_thread()?;
    drop(a);
    Ok(())
}

#[test]
fn limits_flags_and_preferences() -> R {
    let ctx = CudaContext::new_non_primary(0, 0)?;
    ctx.bind_to_thread()?;
    let limit = sys::CUlimit::CU_LIMIT_STACK_SIZE;
    ctx.set_limit(limit, 4096)?;
    assert_eq!(ctx.get_limit(limit)?, 4096);
    let prefer = sys::CUfunc_cache::CU_FUNC_CACHE_PREFER_L1;
    ctx.set_cache_config(prefer)?;
    assert_eq!(ctx.get_cache_config()?, prefer);
    ctx.set_blocking_synchronize()?;
    ctx.set_flags(sys::CUctx_flags::CU_CTX_SCHED_YIELD)?;
    ctx.synchronize()
}

#[test]
fn allocations() -> R {
    let ctx = context()?;
    let s = ctx.new_stream()?;
    let zeros: CudaSlice<u64> = s.alloc_zeros(1000)?;
    assert_eq!(s.clone_dtoh(&zeros)?, vec![0u64; 1000]);
    let mut a = unsafe { s.alloc::<i16>(50) }?;
    s.memcpy_htod(&[7i16; 50], &mut a)?;
    let b = a.try_clone()?;
    let mut back = [0i16; 50];
    s.memcpy_dtoh(&b, &mut back)?;
    s.synchronize()?;
    assert_eq!(back, [7; 50]);
    assert_eq!((a.len(), a.num_bytes(), a.ordinal()), (50, 100, 0));
    s.memset_zeros(&mut a)?;
    assert_eq!(s.clone_dtoh(&a)?, vec![0i16; 50]);
    refused(unsafe { s.alloc::<u8>(1 << 50) }, sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY);
    Ok(())
}

#[test]
fn parts_of_slices() -> R {
    let ctx = context()?;
    let s = ctx.default_stream();
    let mut a = s.clone_htod(&ramp(100))?;
    assert_eq!(s.clone_dtoh(&a.slice(10..20))?, &ramp(100)[10..20]);
    assert!(a.try_slice(90..101).is_none());
    let (lo, hi) = a.split_at(40);
    assert_eq!((lo.len(), hi.len()), (40, 60));
    assert_eq!(s.clone_dtoh(&hi)?, &ramp(100)[40..]);
    {
        let (mut lo, hi) = a.split_at_mut(50);
        s.memcpy_dtod(&hi, &mut lo)?;
    }
    assert_eq!(s.clone_dtoh(&a)?[..50], ramp(100)[50..]);
    let words = unsafe { a.transmute::<u32>(100) }.unwrap();
    assert_eq!(s.clone_dtoh(&words)?[0], 50f32.to_bits());
    Ok(())
}

#[test]
fn pinned_memory() -> R {
    let ctx = context()?;
    let s = ctx.new_stream()?;
    let mut host = unsafe { ctx.alloc_pinned_with_flags::<f32>(5000, 0) }?;
    host.as_mut_slice()?.copy_from_slice(&ramp(5000));
    let a = s.clone_htod(&host)?;
    let mut back = unsafe { ctx.alloc_pinned_with_flags::<f32>(5000, 0) }?;
    s.memcpy_dtoh(&a, &mut back)?;
    assert_eq!(back.as_slice()?, ramp(5000));
    Ok(())
}

#[test]
fn kernels() -> R {
    let ctx = context()?;
    let s = ctx.default_stream();
    let m = ctx.load_module(Ptx::from_src(PTX))?;
    let f = m.load_function("scale")?;
    let x = s.clone_htod(&ramp(1000))?;
    let mut y = s.alloc_zeros::<f32>(1000)?;
    let (a, n) = (2.5f32, 999u32);
    let mut l = s.launch_builder(&f);
    l.arg(&mut y).arg(&x).arg(&a).arg(&n);
    let none = unsafe { l.launch(LaunchConfig::for_num_elems(1000)) }?;
    assert!(none.is_none());
    let mut want: Vec<f32> = ramp(1000).iter().map(|v| v * 2.5).collect();
    want[999] = 0.0;
    assert_eq!(s.clone_dtoh(&y)?, want);
    refused(m.load_function("no"), sys::CUresult::CUDA_ERROR_NOT_FOUND);
    Ok(())
}

#[test]
fn modules_from_files_and_bad_ones() -> R {
    let ctx = context()?;
    let path = std::env::temp_dir().join(format!("programs{}.ptx", std::process::id()));
    std::fs::write(&path, PTX).unwrap();
    let m = ctx.load_module(Ptx::from_file(&path));
    std::fs::remove_file(&path).unwrap();
    m?.load_function("count")?;
    refused(ctx.load_module(Ptx::from_src(".version 7.8\n.target sm_80\nnonsense")), sys::CUresult::CUDA_ERROR_INVALID_PTX);
    refused(ctx.load_module(Ptx::from_file("/nonexistent.ptx")), sys::CUresult::CUDA_ERROR_FILE_NOT_FOUND);
    Ok(())
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Pair {
    n: u32,
    v: f64,
}
unsafe impl DeviceRepr for Pair {}

#[test]
fn arguments_of_every_type() -> R {
    let ctx = context()?;
    let s = ctx.default_stream();
    let f = ctx.load_module(Ptx::from_src(PTX))?.load_function("types")?;
    let mut out = s.alloc_zeros::<f64>(1)?;
    let (a, b, c, d, e, g) = (200u8, -300i16, -70000i32, 1u64 << 40, 0.5f32, Pair { n: 9, v: 0.125 });
    let h = 1e10f64;
    let mut l = s.launch_builder(&f);
    l.arg(&mut out).arg(&a).arg(&b).arg(&c).arg(&d).arg(&e).arg(&h).arg(&g);
    unsafe { l.launch(LaunchConfig { grid_dim: (1, 1, 1), block_dim: (1, 1, 1), shared_mem_bytes: 0 }) }?;
    assert_eq!(s.clone_dtoh(&out)?, [200.0 - 300.0 - 70000.0 + (1u64 << 40) as f64 + 0.5 + 1e10 + 9.0 + 0.125]);
    Ok(())
}

#[test]
fn variables_of_modules() -> R {
    let ctx = context()?;
    let s = ctx.default_stream();
    let m = ctx.load_module(Ptx::from_src(PTX))?;
    {
        let mut g = m.get_global("counter", &s)?;
        assert_eq!(s.clone_dtoh(&g)?, 41u32.to_le_bytes());
        s.memcpy_htod(&100u32.to_le_bytes(), &mut g)?;
    }
    let f = m.load_function("variables")?;
    let mut out = s.alloc_zeros::<u32>(1)?;
    unsafe { s.launch_builder(&f).arg(&mut out).launch(LaunchConfig::for_num_elems(1)) }?;
    assert_eq!(s.clone_dtoh(&out)?, [300]);
    Ok(())
}

#[test]
fn shared_memory() -> R {
    let ctx = context()?;
    let s = ctx.default_stream();
    let f = ctx.load_module(Ptx::from_src(PTX))?.load_function("reverse")?;
    let mut a = s.clone_htod(&(0..1024u32).collect::<Vec<_>>())?;
    let cfg = |bytes| LaunchConfig { grid_dim: (1, 1, 1), block_dim: (1024, 1, 1), shared_mem_bytes: bytes };
    unsafe { s.launch_builder(&f).arg(&mut a).launch(cfg(4096)) }?;
    assert_eq!(s.clone_dtoh(&a)?, (0..1024u32).rev().collect::<Vec<_>>());
    refused(unsafe { s.launch_builder(&f).arg(&mut a).launch(cfg(65536)) }, sys::CUresult::CUDA_ERROR_INVALID_VALUE);
    f.set_attribute(sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 65536)?;
    unsafe { s.launch_builder(&f).arg(&mut a).launch(cfg(65536)) }?;
    assert_eq!(s.clone_dtoh(&a)?, (0..1024u32).collect::<Vec<_>>());
    Ok(())
}

extern "C" fn no_shared(_: c_int) -> usize {
    0
}

#[test]
fn attributes_and_occupancy() -> R {
    let ctx = context()?;
    let s = ctx.default_stream();
    let f = ctx.load_module(Ptx::from_src(PTX))?.load_function("scale")?;
    assert_eq!(f.max_threads_per_block()?, 1024);
    assert_eq!(f.ptx_version()?, 80); // of .target
    assert!(f.num_regs()? > 0 && f.shared_size_bytes()? == 0 && f.local_size_bytes()? == 0 && f.binary_version()? >= 80);
    f.set_function_cache_config(sys::CUfunc_cache::CU_FUNC_CACHE_PREFER_SHARED)?;
    assert_eq!(f.occupancy_max_active_blocks_per_multiprocessor(256, 0, None)?, 8);
    assert_eq!(f.occupancy_max_active_blocks_per_multiprocessor(1024, 0, None)?, 2);
    let (grid, block) = f.occupancy_max_potential_block_size(no_shared, 0, 0, None)?;
    assert!(grid > 0 && block % 32 == 0 && block >= 512);
    assert!(f.occupancy_available_dynamic_smem_per_block(2, 128)? > 16 << 10);
    if ctx.compute_capability()?.0 >= 9 {
        let cfg = LaunchConfig { grid_dim: (64, 1, 1), block_dim: (128, 1, 1), shared_mem_bytes: 0 };
        assert_eq!(f.occupancy_max_potential_cluster_size(cfg, &s)?, 8);
        f.occupancy_max_active_clusters(cfg, &s)?;
    }
    Ok(())
}

#[test]
fn events() -> R {
    let ctx = context()?;
    let s = ctx.new_stream()?;
    let f = ctx.load_module(Ptx::from_src(PTX))?.load_function("slow")?;
    let n = 200_000u32;
    let mut l = s.launch_builder(&f);
    l.record_kernel_launch(sys::CUevent_flags::CU_EVENT_DEFAULT).arg(&n);
    let (a, b) = unsafe { l.launch(LaunchConfig { grid_dim: (1, 1, 1), block_dim: (1, 1, 1), shared_mem_bytes: 0 }) }?.unwrap();
    assert!(a.elapsed_ms(&b)? > 0.0);
    assert!(b.is_complete() && b.try_is_complete()?);
    let plain = s.record_event(None)?;
    plain.synchronize()?;
    refused(plain.elapsed_ms(&b), sys::CUresult::CUDA_ERROR_INVALID_HANDLE);
    Ok(())
}

#[test]
fn streams_wait_for_each_other() -> R {
    let ctx = context()?;
    let one = ctx.new_stream_with_priority(-1)?;
    let (low, high) = result::stream::get_priority_range()?;
    assert!(high < low);
    let m = ctx.load_module(Ptx::from_src(PTX))?;
    let (slow, scale) = (m.load_function("slow")?, m.load_function("scale")?);
    let x = one.clone_htod(&ramp(500))?;
    let mut y = one.alloc_zeros::<f32>(500)?;
    let (n, a, count) = (100_000u32, 3f32, 500u32);
    unsafe { one.launch_builder(&slow).arg(&n).launch(LaunchConfig::for_num_elems(1)) }?;
    unsafe { one.launch_builder(&scale).arg(&mut y).arg(&x).arg(&a).arg(&count).launch(LaunchConfig::for_num_elems(500)) }?;
    let two = one.fork()?;
    let mut z = unsafe { two.alloc::<f32>(500) }?;
    unsafe { two.launch_builder(&scale).arg(&mut z).arg(&y).arg(&a).arg(&count).launch(LaunchConfig::for_num_elems(500)) }?;
    let three = ctx.per_thread_stream();
    three.join(&two)?;
    assert_eq!(three.clone_dtoh(&z)?, ramp(500).iter().map(|v| v * 9.0).collect::<Vec<_>>());
    Ok(())
}

unsafe extern "C" fn add_one(p: *mut c_void) {
    *(p as *mut u32) += 1;
}

#[test]
fn host_functions() -> R {
    let ctx = context()?;
    let s = ctx.new_stream()?;
    let mut n = 0u32;
    for _ in 0..20 {
        unsafe { result::stream::launch_host_function(s.cu_stream(), add_one, &mut n as *mut u32 as *mut c_void) }?;
    }
    s.synchronize()?;
    assert_eq!(n, 20);
    Ok(())
}

#[test]
fn graphs() -> R {
    let ctx = context()?;
    unsafe { ctx.disable_event_tracking() };
    let s = ctx.new_stream()?;
    let f = ctx.load_module(Ptx::from_src(PTX))?.load_function("scale")?;
    let x = s.clone_htod(&ramp(300))?;
    let mut y = s.alloc_zeros::<f32>(300)?;
    let (a, n) = (2f32, 300u32);
    s.synchronize()?;
    s.begin_capture(sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED)?;
    assert_eq!(s.capture_status()?, sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE);
    unsafe { s.launch_builder(&f).arg(&mut y).arg(&x).arg(&a).arg(&n).launch(LaunchConfig::for_num_elems(300)) }?;
    let (p, _) = y.device_ptr_mut(&s);
    for _ in 0..3 {
        unsafe { s.launch_builder(&f).arg(&p).arg(&p).arg(&a).arg(&n).launch(LaunchConfig::for_num_elems(300)) }?;
    }
    let graph = s.end_capture(sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH)?.unwrap();
    let mut nodes = 0usize;
    unsafe { sys::cuGraphGetNodes(graph.cu_graph(), std::ptr::null_mut(), &mut nodes) }.result()?;
    assert_eq!(nodes, 4);
    graph.upload()?;
    for _ in 0..5 {
        graph.launch()?;
    }
    let mut got = vec![0f32; 300];
    s.synchronize()?;
    unsafe { result::memcpy_dtoh_sync(&mut got, p) }?;
    assert_eq!(got, ramp(300).iter().map(|v| v * 16.0).collect::<Vec<_>>());
    Ok(())
}

#[test]
fn unified_memory() -> R {
    let ctx = context()?;
    let s = ctx.default_stream();
    let f = ctx.load_module(Ptx::from_src(PTX))?.load_function("scale")?;
    let mut a = unsafe { ctx.alloc_unified::<f32>(1000, true) }?;
    a.check_host_access()?;
    a.as_mut_slice()?.copy_from_slice(&ramp(1000));
    a.prefetch()?;
    let (k, n) = (2f32, 1000u32);
    let (p, _) = a.device_ptr(&s);
    unsafe { s.launch_builder(&f).arg(&p).arg(&p).arg(&k).arg(&n).launch(LaunchConfig::for_num_elems(1000)) }?;
    s.synchronize()?;
    assert_eq!(a.as_slice()?, ramp(1000).iter().map(|v| v * 2.0).collect::<Vec<_>>());
    a.attach(&s, sys::CUmemAttach_flags::CU_MEM_ATTACH_SINGLE).or_else(|e| if e.0 == sys::CUresult::CUDA_ERROR_INVALID_VALUE { Ok(()) } else { Err(e) }) // not with the default stream
}

#[test]
fn advice() -> R {
    let ctx = context()?;
    ctx.bind_to_thread()?;
    let p = unsafe { result::malloc_managed(1 << 20, sys::CUmemAttach_flags::CU_MEM_ATTACH_GLOBAL) }?;
    let here = sys::CUmemLocation { type_: sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: 0 };
    unsafe {
        result::mem_advise(p, 1 << 20, sys::CUmem_advise::CU_MEM_ADVISE_SET_READ_MOSTLY, here)?;
        result::mem_prefetch_async(p, 1 << 20, here, std::ptr::null_mut())?;
        result::ctx::synchronize()?;
        let mut mostly = 0u32;
        sys::cuMemRangeGetAttribute(&mut mostly as *mut u32 as *mut c_void, 4, sys::CUmem_range_attribute::CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, 1 << 20).result()?;
        assert_eq!(mostly, 1);
        result::free_sync(p)
    }
}

#[test]
fn pools_of_memory() -> R {
    let ctx = context()?;
    assert!(ctx.has_async_alloc());
    let s = ctx.new_stream()?;
    let mut props: sys::CUmemPoolProps = unsafe { std::mem::zeroed() };
    props.allocType = sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location = sys::CUmemLocation { type_: sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: 0 };
    unsafe {
        let pool = result::mem_pool::create(&props)?;
        let mut keep = u64::MAX;
        result::mem_pool::set_attribute(pool, sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &mut keep as *mut u64 as *mut c_void)?;
        let p = result::mem_pool::alloc_async(pool, 1 << 20, s.cu_stream())?;
        result::memset_d8_async(p, 0x5a, 1 << 20, s.cu_stream())?;
        let mut used = 0u64;
        result::mem_pool::get_attribute(pool, sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &mut used as *mut u64 as *mut c_void)?;
        assert_eq!(used, 1 << 20);
        let mut back = vec![0u8; 1 << 20];
        result::memcpy_dtoh_async(&mut back, p, s.cu_stream())?;
        s.synchronize()?;
        assert!(back.iter().all(|&b| b == 0x5a));
        result::free_async(p, s.cu_stream())?;
        s.synchronize()?;
        result::mem_pool::trim_to(pool, 0)?;
        result::mem_pool::get_attribute(pool, sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &mut used as *mut u64 as *mut c_void)?;
        assert_eq!(used, 0);
        result::mem_pool::destroy(pool)
    }
}

#[test]
fn synchronous_calls_of_the_result_module() -> R {
    let ctx = context()?;
    ctx.bind_to_thread()?;
    unsafe {
        let p = result::malloc_sync(4000)?;
        let q = result::malloc_sync(4000)?;
        result::memcpy_htod_sync(p, &ramp(1000))?;
        result::memset_d8_sync(q, 0, 4000)?;
        result::memcpy_dtod_sync(q, p, 2000)?;
        let mut back = vec![1f32; 1000];
        result::memcpy_dtoh_sync(&mut back, q)?;
        assert_eq!(back[..500], ramp(1000)[..500]);
        assert_eq!(back[500..], [0f32; 500]);
        result::memcpy_peer_async(ctx.cu_ctx(), q, ctx.cu_ctx(), p, 4000, std::ptr::null_mut())?;
        result::ctx::synchronize()?;
        result::memcpy_dtoh_sync(&mut back, q)?;
        assert_eq!(back, ramp(1000));
        result::free_sync(p)?;
        refused(result::free_sync(p), sys::CUresult::CUDA_ERROR_INVALID_VALUE);
        result::free_sync(q)
    }
}

#[test]
fn cooperative_launch() -> R {
    let ctx = context()?;
    let s = ctx.default_stream();
    let f = ctx.load_module(Ptx::from_src(PTX))?.load_function("meet")?;
    let mut n = s.alloc_zeros::<u32>(1)?;
    let blocks = 16u32;
    let cfg = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (1, 1, 1), shared_mem_bytes: 0 };
    unsafe { s.launch_builder(&f).arg(&mut n).arg(&blocks).launch_cooperative(cfg) }?;
    assert_eq!(s.clone_dtoh(&n)?, [16]);
    let many = LaunchConfig { grid_dim: (1 << 20, 1, 1), ..cfg };
    refused(unsafe { s.launch_builder(&f).arg(&mut n).arg(&blocks).launch_cooperative(many) }, sys::CUresult::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    Ok(())
}

#[test]
fn threads() -> R {
    let ctx = context()?;
    let f = ctx.load_module(Ptx::from_src(PTX))?.load_function("count")?;
    let s = ctx.default_stream();
    let n = s.alloc_zeros::<u32>(1)?;
    let p = n.device_ptr(&s).0;
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let s = ctx.new_stream().unwrap();
                for _ in 0..25 {
                    unsafe { s.launch_builder(&f).arg(&p).launch(LaunchConfig { grid_dim: (2, 1, 1), block_dim: (32, 1, 1), shared_mem_bytes: 0 }) }.unwrap();
                }
                s.synchronize().unwrap();
            });
        }
    });
    assert_eq!(s.clone_dtoh(&n)?, [8 * 25 * 64]);
    Ok(())
}

#[test]
fn bad_launches() -> R {
    let ctx = context()?;
    let s = ctx.default_stream();
    let f = ctx.load_module(Ptx::from_src(PTX))?.load_function("count")?;
    let n = s.alloc_zeros::<u32>(1)?;
    for block in [(0, 1, 1), (1025, 1, 1), (1, 1, 65), (32, 32, 2)] {
        refused(unsafe { s.launch_builder(&f).arg(&n).launch(LaunchConfig { grid_dim: (1, 1, 1), block_dim: block, shared_mem_bytes: 0 }) }, sys::CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    Ok(())
}

#[test]
fn profiler() -> R {
    let _ctx = context()?;
    let p = Profiler::new()?;
    drop(p);
    Ok(())
}

#[test]
fn leaked_pointers() -> R {
    let ctx = context()?;
    let s = ctx.default_stream();
    let p = s.clone_htod(&ramp(64))?.leak();
    let a: CudaSlice<f32> = unsafe { s.upgrade_device_ptr(p, 64) };
    assert_eq!(s.clone_dtoh(&a)?, ramp(64));
    Ok(())
}
