// Package generate makes what a project derives from its Go code: the
// CustomResourceDefinitions of its API types, their deep-copy methods, and the
// role with the permissions that its controllers ask for.
//
//	result, err := generate.Run(ctx, generate.Options{
//		Dir:   dir,
//		Paths: []string{"./..."},
//		Uses: []generate.Use{
//			{Name: "object", Options: "headerFile=hack/boilerplate.go.txt"},
//			{Name: "crd", Output: generate.Output{Config: "config/crd/bases"}},
//			{Name: "rbac", Options: "roleName=manager-role"},
//		},
//	})
//
// [Generators] lists the generators. They read the same markers and make the same bytes as a version of controller-gen,
// which is also the version that CRDs name. All generators of a run share one load of the packages and run at once; see
// package load for how that works without the go command.
//
// A run plans all files before it writes one. Mistakes in the user's code are
// findings of the [Result]; if one of them is fatal, nothing is written. Files
// that already hold the right bytes are not touched, and no file is ever seen half
// written. The error of [Run] is for what is not the code's fault: an option that
// does not exist, a folder that cannot be read or written.
package generate
