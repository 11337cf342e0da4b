package cubin

import (
	"encoding/binary"
	"fmt"

	"github.com/gocuda/cuda/internal/image/fault"
)

// Format says how the value of a record is stored.
type Format byte

// The record formats.
const (
	NoValue Format = 1 // two bytes of padding
	Byte    Format = 2 // one byte, one of padding
	Half    Format = 3 // two bytes
	Sized   Format = 4 // 16-bit length, then that many bytes
)

// Record is one entry of a .nv.info section (type, length, value).
type Record struct {
	Offset int // of the record in its section
	Format Format
	ID     Attr
	Value  uint16 // of a Byte or Half record
	Data   []byte // of a Sized record; aliases the image
}

// Word gives the i-th 32-bit word of a Sized record.
func (r Record) Word(i int) (uint32, bool) {
	if i < 0 || len(r.Data) < 4*(i+1) {
		return 0, false
	}
	return binary.LittleEndian.Uint32(r.Data[4*i:]), true
}

// DecodeInfo decodes a section of type-length-value records. An unknown format is an error of class
// Malformed, for there is no way to find the next record (the driver refuses such files too);
// unknown attributes are kept.
func DecodeInfo(data []byte) ([]Record, error) {
	var out []Record
	for at := 0; at < len(data); {
		rest := data[at:]
		if len(rest) < 4 {
			if allZero(rest) {
				break
			}
			return out, fault.New(fault.Malformed, "nv.info", uint64(at), "%d stray bytes", len(rest))
		}
		r := Record{Offset: at, Format: Format(rest[0]), ID: Attr(rest[1])}
		half := binary.LittleEndian.Uint16(rest[2:])
		n := 4
		switch r.Format {
		case NoValue:
		case Byte:
			r.Value = uint16(rest[2])
		case Half:
			r.Value = half
		case Sized:
			if int(half) > len(rest)-4 {
				return out, fault.New(fault.Malformed, "nv.info", uint64(at), "%s of %d bytes, %d left", r.ID, half,
					len(rest)-4)
			}
			r.Data = rest[4 : 4+int(half) : 4+int(half)]
			n += (int(half) + 3) &^ 3
		default:
			return out, fault.New(fault.Malformed, "nv.info", uint64(at), "record format %d of %s", r.Format, r.ID)
		}
		out = append(out, r)
		at += n
	}
	return out, nil
}

func allZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// Attr identifies a record of .nv.info.
type Attr byte

// Attributes that describe kernels (the full list of names is in attrNames).
const (
	AttrMaxThreads        Attr = 0x05 // u32 x, y, z of .maxntid
	AttrParamCBank        Attr = 0x0a // u32 symbol of constant bank 0, u16 offset of the parameters, u16 size
	AttrExterns           Attr = 0x0f // u32 symbols of functions defined elsewhere
	AttrReqNTID           Attr = 0x10 // u32 x, y, z of .reqntid
	AttrFrameSize         Attr = 0x11 // u32 symbol, u32 bytes
	AttrMinStackSize      Attr = 0x12 // u32 symbol, u32 bytes with callees
	AttrKParamInfo        Attr = 0x17 // one parameter
	AttrCBankParamSize    Attr = 0x19 // bytes of parameters
	AttrMaxRegCount       Attr = 0x1b // limit; 0xff is none
	AttrCRSStackSize      Attr = 0x1e // u32 bytes
	AttrMaxStackSize      Attr = 0x23 // u32 symbol, u32 bytes
	AttrRegCount          Attr = 0x2f // u32 symbol, u32 registers
	AttrCUDAAPIVersion    Attr = 0x37 // u32, 130 is 13.0
	AttrNumMBarriers      Attr = 0x38
	AttrCTAPerCluster     Attr = 0x3d // u32 x, y, z
	AttrExplicitCluster   Attr = 0x3e
	AttrMaxClusterRank    Attr = 0x3f // u32
	AttrReservedSmemUsed  Attr = 0x41
	AttrReservedSmemSize  Attr = 0x42 // u32 bytes
	AttrKParamInfoV2      Attr = 0x45 // one parameter, when the space is beyond 4 KiB
	AttrNumBarriers       Attr = 0x4c
	AttrBlocksAreClusters Attr = 0x5b
)

// String is the name without its EIATTR_ prefix.
func (a Attr) String() string {
	if int(a) < len(attrNames) && attrNames[a] != "" {
		return attrNames[a]
	}
	return fmt.Sprintf("ATTR_%02X", byte(a))
}

// Attribute names: open-source readers (CuAssembler, Datadog, cudaparsers), CUDA 13.0 numbering.
var attrNames = [...]string{
	0x00: "ERROR", 0x01: "PAD", 0x02: "IMAGE_SLOT", 0x03: "JUMPTABLE_RELOCS",
	0x04: "CTAIDZ_USED", 0x05: "MAX_THREADS", 0x06: "IMAGE_OFFSET", 0x07: "IMAGE_SIZE",
	0x08: "TEXTURE_NORMALIZED", 0x09: "SAMPLER_INIT", 0x0A: "PARAM_CBANK", 0x0B: "SMEM_PARAM_OFFSETS",
	0x0C: "CBANK_PARAM_OFFSETS", 0x0D: "SYNC_STACK", 0x0E: "TEXID_SAMPID_MAP", 0x0F: "EXTERNS",
	0x10: "REQNTID", 0x11: "FRAME_SIZE", 0x12: "MIN_STACK_SIZE", 0x13: "SAMPLER_FORCE_UNNORMALIZED",
	0x14: "BINDLESS_IMAGE_OFFSETS", 0x15: "BINDLESS_TEXTURE_BANK", 0x16: "BINDLESS_SURFACE_BANK", 0x17: "KPARAM_INFO",
	0x18: "SMEM_PARAM_SIZE", 0x19: "CBANK_PARAM_SIZE", 0x1A: "QUERY_NUMATTRIB", 0x1B: "MAXREG_COUNT",
	0x1C: "EXIT_INSTR_OFFSETS", 0x1D: "S2RCTAID_INSTR_OFFSETS", 0x1E: "CRS_STACK_SIZE", 0x1F: "NEED_CNP_WRAPPER",
	0x20: "NEED_CNP_PATCH", 0x21: "EXPLICIT_CACHING", 0x22: "ISTYPEP_USED", 0x23: "MAX_STACK_SIZE",
	0x24: "SUQ_USED", 0x25: "LD_CACHEMOD_INSTR_OFFSETS", 0x26: "LOAD_CACHE_REQUEST", 0x27: "ATOM_SYS_INSTR_OFFSETS",
	0x28: "COOP_GROUP_INSTR_OFFSETS", 0x29: "COOP_GROUP_MASK_REGIDS", 0x2A: "SW1850030_WAR", 0x2B: "WMMA_USED",
	0x2C: "HAS_PRE_V10_OBJECT", 0x2D: "ATOMF16_EMUL_INSTR_OFFSETS", 0x2E: "ATOM16_EMUL_INSTR_REG_MAP", 0x2F: "REGCOUNT",
	0x30: "SW2393858_WAR", 0x31: "INT_WARP_WIDE_INSTR_OFFSETS", 0x32: "SHARED_SCRATCH", 0x33: "STATISTICS",
	0x34: "INDIRECT_BRANCH_TARGETS", 0x35: "SW2861232_WAR", 0x36: "SW_WAR", 0x37: "CUDA_API_VERSION",
	0x38: "NUM_MBARRIERS", 0x39: "MBARRIER_INSTR_OFFSETS", 0x3A: "COROUTINE_RESUME_ID_OFFSETS",
	0x3B: "SAM_REGION_STACK_SIZE",
	0x3C: "PER_REG_TARGET_PERF_STATS", 0x3D: "CTA_PER_CLUSTER", 0x3E: "EXPLICIT_CLUSTER", 0x3F: "MAX_CLUSTER_RANK",
	0x40: "INSTR_REG_MAP", 0x41: "RESERVED_SMEM_USED", 0x42: "RESERVED_SMEM_0_SIZE", 0x43: "UCODE_SECTION_DATA",
	0x44: "UNUSED_LOAD_BYTE_OFFSET", 0x45: "KPARAM_INFO_V2", 0x46: "SYSCALL_OFFSETS",
	0x47: "SW_WAR_MEMBAR_SYS_INSTR_OFFSETS",
	0x48: "GRAPHICS_GLOBAL_CBANK", 0x49: "SHADER_TYPE", 0x4A: "VRC_CTA_INIT_COUNT", 0x4B: "TOOLS_PATCH_FUNC",
	0x4C: "NUM_BARRIERS", 0x4D: "TEXMODE_INDEPENDENT", 0x4E: "PERF_STATISTICS", 0x4F: "AT_ENTRY_FRAGEMENTS",
	0x50: "SPARSE_MMA_MASK", 0x51: "TCGEN05_1CTA_USED", 0x52: "TCGEN05_2CTA_USED", 0x53: "GEN_ERRBAR_AT_EXIT",
	0x54: "REG_RECONFIG", 0x55: "ANNOTATIONS", 0x57: "STACK_CANARY_TRAP_OFFSETS",
	0x58: "STUB_FUNCTION_KIND", 0x59: "LOCAL_CTA_ASYNC_STORE_OFFSETS", 0x5A: "MERCURY_FINALIZER_OPTIONS",
	0x5B: "BLOCKS_ARE_CLUSTERS",
	0x5D: "SYSCALLS_FALLBACK", 0x5E: "CUDA_REQ", 0x5F: "MERCURY_ISA_VERSION",
}

// compatAccelerator is the .nv.compat attribute whose value 1 marks a target with suffix a (checked
// against CUDA 13.0 output for sm_90 and sm_90a).
const compatAccelerator = 9

func (f *File) readCompat() error {
	s := f.ELF.Section(".nv.compat")
	if s == nil || f.OSABI != OSABINew {
		return nil
	}
	records, err := DecodeInfo(s.Data)
	if err != nil {
		return inSection(err, s.Offset, s.Name)
	}
	for _, r := range records {
		if r.ID == compatAccelerator && r.Format == Byte && r.Value == 1 {
			f.Arch.Suffix = 'a'
		}
	}
	return nil
}

// inSection makes an error's offset count from the start of the file and names the section.
func inSection(err error, offset uint64, name string) error {
	if f, ok := err.(*fault.Error); ok {
		f.Offset += offset
		f.Part = name
	}
	return err
}
