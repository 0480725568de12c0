// Package project knows operator projects: their PROJECT file and the names and
// paths that follow from a group, a version and a kind.
//
// [Find] looks upward for the folder that holds a PROJECT file and [Load] reads
// it: version 3, with the layouts go.kubebuilder.io/v4 and the older v3 and v2, and the
// older versions 2 and 1 of the file. A [Project] is changed through its fields and written
// back with [Project.Marshal], which keeps what it does not know: unknown keys,
// comments and the order of keys survive, so other tools and people may keep
// facts of their own in the file. Slipway's own facts live under [PluginKey].
//
//	root, err := project.Find(".")
//	p, err := project.Load(root)
//	r := project.Resource{Group: "batch", Version: "v1", Kind: "CronJob", Domain: p.Domain}
//	if err := r.Validate(); err != nil { … }
//	p.TypesFile(r)      // api/v1/cronjob_types.go
//	p.ControllerFile(r) // internal/controller/cronjob_controller.go
//
// Mistakes in the file or in a name are [*FieldError] values, which say what is
// wrong, where, and what was expected; [ErrNotFound] says that there is no project.
//
// The package depends on nothing else of Slipway, and it touches the disk only in
// Find and Load.
package project
