// Package tree represents objects whose parts depend on conditions.
//
// A [Map] is an object or a part of one, a [List] a list. Their fields and items exist if a [Condition] holds. [Merge]
// makes a tree of an object as it is with all features on, and as it is without each of them. What is missing without a
// feature gets the condition that the feature is on. So no other package has to know what belongs to a feature.
//
//	nodes := tree.Merge(full, []tree.Variant{{On: tree.If(".Values.metrics.enabled"), Value: without}})
//
// Settings of a chart's user are put into the tree afterwards, in place of what was built, as an [Action] or as [YAML].
package tree
