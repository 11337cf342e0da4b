package driver

import "sort"

// entryPoint is what cuGetProcAddress knows of one name.
type entryPoint struct {
	base     string
	versions []entryVersion
}

type entryVersion struct {
	min       int // CUDA version, 1000*major + 10*minor
	symbol    string
	perThread bool
}

// ResolveProc is the choice that cuGetProcAddress_v2 of a driver of version have makes: the newest version of an entry
// point that is not newer than cudaVersion (both 1000*major + 10*minor, as CUDA_VERSION). What is newer than the driver
// does not exist: such names are not found, as any other that the driver does not know. With
// CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM in flags the variant with per-thread default stream is taken where
// there is one. The symbol is empty unless the status is success.
func ResolveProc(name string, cudaVersion, have int, flags uint64) (symbol string,
	status CUdriverProcAddressQueryResult) {
	i := sort.Search(len(entryPoints), func(i int) bool { return entryPoints[i].base >= name })
	if i == len(entryPoints) || entryPoints[i].base != name {
		return resolveUnversioned(name)
	}
	versions := entryPoints[i].versions
	if versions[0].min > have { // they are in order
		return "", CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND
	}
	perThread := flags&uint64(CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0
	if perThread {
		perThread = false
		for _, v := range versions {
			perThread = perThread || v.perThread && v.min <= have
		}
	}
	for _, v := range versions {
		if v.perThread == perThread && v.min <= min(cudaVersion, have) {
			symbol = v.symbol
		}
	}
	if symbol == "" {
		return "", CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
	}
	return symbol, CU_GET_PROC_ADDRESS_SUCCESS
}

// resolveUnversioned finds the functions of cudaGL.h, cudaEGL.h, cudaVDPAU.h and cudaProfiler.h, for which no versions
// are recorded: the name gives the current symbol at every version.
func resolveUnversioned(name string) (string, CUdriverProcAddressQueryResult) {
	s, ok := Lookup(Current(name))
	if !ok || s.Base != name || !s.Exported {
		return "", CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND
	}
	return s.Name, CU_GET_PROC_ADDRESS_SUCCESS
}
