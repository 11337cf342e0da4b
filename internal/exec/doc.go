// Package exec runs lowered kernels: grid, clusters, CTAs, warps and splits; memory spaces; barriers; and the contract
// that an engine fills (Engine, Code).
//
// # Execution model
//
// A warp is 32 lanes and a set of splits. A split is a program point with the mask of lanes that stand there, in one
// activation of one function. The scheduler runs the split in the deepest activation, and there the one with the lowest
// operation: since blocks are laid out with loops contiguous (package ir), lanes that diverged wait for each other at
// the point where their paths meet and become one split again. A split that comes around a loop with nothing changed in
// its registers, or has passed very many back edges, steps back while another split waits (rotation), so lanes that
// wait for each other inside a warp make progress: independent thread scheduling, as on compute capability 7.0 and
// later.
//
// Operations with a member mask wait until the lanes that it names have arrived (Warp.Gather); exited lanes never block
// others. Barriers count warps as the PTX manual describes. A CTA is run warp by warp until every warp has ended or
// waits; when nothing can run that is a deadlock, reported as a Fault, never a hang. Grids are run by a pool of workers
// that take groups of CTAs in order; a group is a cluster, or one CTA. Cooperative grids have all their groups
// resident, and a group that runs for long without ending lets further groups in, so CTAs that wait for later ones
// proceed as on a device that holds them all.
package exec
