// Package tree holds objects of which parts depend on switches.
//
// A [Map] is an object or a part of one, a [List] a list; their fields and items are there
// when a [Condition] holds. [Merge] makes such a tree of one object as it is with everything
// on, and as it is without each of the features: what is missing without a feature is there when
// the feature is on, so that no other package has to know what belongs to it.
//
//	nodes := tree.Merge(full, []tree.Variant{{On: tree.If(".Values.metrics.enabled"), Value: without}})
//
// What the user of a chart sets is put into the tree afterwards, in place of what was built: as
// an [Action] or as [YAML].
package tree
