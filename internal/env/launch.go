package env

import "os"

// Launch is what a launcher of many processes tells each of them: the variables of launchVariables, by name. What is
// not set is not there.
type Launch map[string]string

// ReadLaunch reads the environment of the process, or what lookup finds when it is not nil.
func ReadLaunch(lookup Lookup) Launch {
	if lookup == nil {
		lookup = os.LookupEnv
	}
	l := Launch{}
	for _, name := range launchVariables {
		if v, ok := lookup(name); ok && v != "" {
			l[name] = v
		}
	}
	return l
}

var launchVariables = []string{MasterAddr, MasterPort, Rank, WorldSize, LocalRank, AgentStore, OMPIRank, OMPISize,
	OMPILocalRank, OMPILocalSize, SlurmRank, SlurmSize, SlurmStepSize, SlurmLocalRank, SlurmNodes, SlurmStepNodes,
	SlurmJob, SlurmStep}
