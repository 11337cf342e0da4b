package nccl

import (
	"net"
	"strconv"
	"strings"

	"github.com/gocuda/cuda/internal/env"
)

// World is the place of this process among those that a launcher has started.
type World struct {
	Launcher   string // "torchrun", "Open MPI" or "Slurm"
	Rank, Size int
	LocalRank  int        // among the processes of the machine: the device to take
	Rendezvous Rendezvous // at rank 0's machine
}

// Environment reads what a launcher has told this process: torchrun, or what sets the same variables, as Kubernetes'
// training operator does; Open MPI's mpirun; Slurm's srun. MASTER_ADDR and MASTER_PORT say where rank 0 listens. Slurm
// needs them not: the first machine of the job, and a port that follows from the number of the job. Open MPI needs them
// on several machines only.
//
//	w, err := nccl.Environment()
//	...
//	c, err := sys.Context(w.LocalRank)
//	...
//	comm, err := nccl.Join(ctx, w.Rendezvous, w.Rank, w.Size, c, nccl.Config{})
func Environment() (World, error) { return worldOf(env.ReadLaunch(nil)) }

const (
	environmentOp = "nccl.Environment"
	// firstPort and ports are where a port is taken from for a job: above the registered ones that are in common use,
	// below those that Linux gives to connections (32768 on).
	firstPort, ports = 20000, 10000
	torchPort        = 29500 // torchrun's own default
)

func worldOf(l env.Launch) (World, error) {
	switch {
	case l[env.OMPIRank] != "":
		return worldBy(l, "Open MPI", env.OMPIRank, env.OMPISize, env.OMPILocalRank)
	case l[env.Rank] != "" && l[env.WorldSize] != "":
		return worldBy(l, "torchrun", env.Rank, env.WorldSize, env.LocalRank)
	case l[env.SlurmRank] != "":
		size := env.SlurmStepSize
		if l[size] == "" {
			size = env.SlurmSize
		}
		return worldBy(l, "Slurm", env.SlurmRank, size, env.SlurmLocalRank)
	}
	return World{}, usage(environmentOp, "no launcher has started this process: %s and %s (torchrun), %s (Open MPI) "+
		"and %s (Slurm) are not set", env.Rank, env.WorldSize, env.OMPIRank, env.SlurmRank)
}

// count reads a variable that has to be a number from 0 to most.
func count(l env.Launch, name string, most int) (int, error) {
	v, err := strconv.Atoi(l[name])
	if err != nil || v < 0 || v > most {
		return 0, usage(environmentOp, "%s is %q, not a number from 0 to %d", name, l[name], most)
	}
	return v, nil
}

func worldBy(l env.Launch, launcher, rank, size, local string) (w World, err error) {
	w.Launcher = launcher
	if w.Size, err = count(l, size, 1<<30); err != nil {
		return World{}, err
	}
	if w.Rank, err = count(l, rank, w.Size-1); err != nil {
		return World{}, err
	}
	if l[local] == "" && launcher == "torchrun" {
		w.LocalRank = 0 // Kubernetes' operator: a process for each machine
	} else if w.LocalRank, err = count(l, local, w.Rank); err != nil {
		return World{}, err
	}
	address, err := masterOf(l, launcher, w.Size)
	if err != nil {
		return World{}, err
	}
	w.Rendezvous = TCP{Address: address}
	return w, nil
}

// masterOf is where rank 0 listens.
func masterOf(l env.Launch, launcher string, size int) (string, error) {
	host, port := l[env.MasterAddr], torchPort
	if launcher == "Slurm" {
		job := 0
		for _, name := range []string{env.SlurmJob, env.SlurmStep} {
			if l[name] == "" {
				continue
			}
			v, err := count(l, name, 1<<32-1)
			if err != nil {
				return "", err
			}
			job = job*7 + v%ports
		}
		port = firstPort + job%ports
	}
	if host == "" {
		var err error
		if host, err = firstHost(l, launcher, size); err != nil {
			return "", err
		}
	}
	if l[env.MasterPort] != "" {
		v, err := count(l, env.MasterPort, 1<<16-2)
		if err != nil {
			return "", err
		}
		port = v
	}
	if l[env.AgentStore] == "True" {
		port++
	}
	return net.JoinHostPort(host, strconv.Itoa(port)), nil
}

// firstHost is the machine of rank 0, where no variable says it.
func firstHost(l env.Launch, launcher string, size int) (string, error) {
	switch launcher {
	case "Open MPI":
		if l[env.OMPILocalSize] == strconv.Itoa(size) {
			return "127.0.0.1", nil // all are on this machine
		}
		return "", usage(environmentOp, "set %s to the machine of rank 0 (mpirun -x %s=...): Open MPI does not tell it",
			env.MasterAddr, env.MasterAddr)
	case "Slurm":
		for _, name := range []string{env.SlurmStepNodes, env.SlurmNodes} {
			if l[name] == "" {
				continue
			}
			host, ok := firstOfNodes(l[name])
			if !ok {
				return "", usage(environmentOp, "%s is %q, which is no list of machines; set %s", name, l[name],
					env.MasterAddr)
			}
			return host, nil
		}
		return "", usage(environmentOp, "neither %s nor %s is set; set %s", env.SlurmStepNodes, env.SlurmNodes,
			env.MasterAddr)
	}
	return "", usage(environmentOp, "%s is not set", env.MasterAddr)
}

// firstOfNodes is the first machine of a list as Slurm writes it, for example "gpu[07-09,12],login1": a name, or a
// prefix and numbers in brackets, of which there may be several ("rack[1-2]n[01-16]").
func firstOfNodes(list string) (host string, ok bool) {
	var b strings.Builder
	for len(list) > 0 {
		i := strings.IndexAny(list, "[],")
		if i < 0 {
			i = len(list)
		}
		b.WriteString(list[:i])
		list = list[i:]
		if list == "" || list[0] == ',' {
			break
		}
		if list[0] == ']' {
			return "", false
		}
		end := strings.IndexByte(list, ']')
		if end < 0 {
			return "", false
		}
		number, _, _ := strings.Cut(list[1:end], ",")
		number, _, _ = strings.Cut(number, "-")
		if number == "" || strings.Trim(number, "0123456789") != "" {
			return "", false
		}
		b.WriteString(number)
		list = list[end+1:]
	}
	host = b.String()
	for _, r := range host {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-._", r)) {
			return "", false
		}
	}
	return host, host != ""
}
