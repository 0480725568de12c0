// Package regenerate runs the generators that a project uses, and finds generated files that are out of date.
//
//	plan, findings, err := regenerate.PlanFor(root, code)
//	result, err := plan.Run(ctx, generate.Options{…})
//	stale, err := plan.Stale(result.Files)
//	left, err := regenerate.Leftovers(plan, result.Files)
//	err = regenerate.Watch(ctx, root, headers, handler, ready, func() { … })
//
// The calls of controller-gen in a project's Makefile and similar files decide what it generates. Slipway honours their
// arguments, so a kubebuilder project gets the same files as from `make manifests generate`. Without such calls, the
// defaults of the project's layout apply. See plan.go.
package regenerate
