// Package regenerate keeps what a project generates true to its code.
//
//	plan, notes, err := regenerate.PlanFor(root, os.Getenv)
//	result, err := plan.Run(ctx, generate.Options{…})
//	stale, err := plan.Stale(result.Files)
//	left, err := regenerate.Leftovers(plan, result.Files)
//	err = regenerate.Watch(ctx, root, plan.Headers, ready, func() { … })
//
// What a project generates is said by its Makefile, if that calls controller-gen: its arguments are honoured, so that a
// project made with kubebuilder gets from us what it gets from `make manifests generate`. A Makefile that does not
// leaves it to the defaults, which are those of our scaffold. See plan.go.
package regenerate
