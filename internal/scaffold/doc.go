// Package scaffold writes the files of operator projects.
//
// Its facade is functions that plan, one for each verb, and one that writes:
//
//	plan, err := scaffold.Init(root, scaffold.Project{Domain: "example.com", Repo: "example.com/op"})
//	plan, err := scaffold.CreateAPI(root, scaffold.API{Group: "batch", Version: "v1", Kind: "CronJob", …})
//	plan, err := scaffold.EditProject(root, scaffold.MultiGroup(true), scaffold.InNamespace(true))
//	err = plan.Apply(handler)
//
// A [Plan] holds every change of a command before the first byte is written: names
// are validated, templates are filled in, insertion points are found. What cannot
// be done is refused as a whole, with the file, the line and the text to insert by
// hand. Apply writes all files or none, and never overwrites a file that it did not
// plan to change: a file that exists is kept as its owner made it.
//
// Where the templates are: the tree templates/init mirrors a new project,
// templates/api holds what an API adds, and templates/deployimage an API whose controller runs
// an image. Code is inserted into existing files at
// comments of the form `+kubebuilder:scaffold:<name>`, the insertion points that
// operator authors know, each fragment at most once.
//
// What was scaffolded is kept in the file .slipway/base (see [Base]), as it was
// before anyone edited it: the merge base for later updates and deletions.
package scaffold
