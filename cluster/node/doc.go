// Package node is what simulated and real nodes share: how they are described, named and marked, and which addresses
// they have.
//
//	specs := node.Default()                         // or DefaultReal, or those of a configuration, which [Validate] judges
//	numbers, err := node.NumberNodes(specs, ranges) // by which each has its [Address] and its [PodRange]
//	for _, name := range node.Unnamed(specs, others, existing) { … } // is removed
//
// Simulated nodes carry the label [SimulatedLabel], real ones [RealLabel]; nodes with either label which no
// configuration names any more are removed, nodes without are left alone. A [Keeper] registers nodes again that a user
// deletes. Package simnode simulates nodes, package realnode runs them.
package node
