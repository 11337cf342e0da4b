// Package abi is what machine code and the engine that runs it agree on: the context at which the code finds what it
// needs ([Context]), what stands behind the rows in a warp's frame ([Frame]), how code of whole CTAs comes to the
// engine ([CTACode]), and why code returns (the Exit constants).
package abi
