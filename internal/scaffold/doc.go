// Package scaffold writes the files of operator projects.
//
// It is a facade: each verb has a function that returns a [Plan], which callers inspect or apply.
//
//	p, err := scaffold.Init(folder, scaffold.Project{Domain: "example.com", Repo: "example.com/op"})
//	p, err := scaffold.CreateAPI(folder, scaffold.API{Group: "batch", Version: "v1", Kind: "CronJob", …})
//	p, err := scaffold.CreateWebhook(folder, scaffold.Webhook{Group: "batch", Version: "v1", Kind: "CronJob", Defaulting: true})
//	p, err := scaffold.EditProject(folder, scaffold.MultiGroup(true), scaffold.Enable(features.Metrics))
//	p, err := scaffold.Derive(folder, scaffold.Derived{Folder: "dist/chart", Mark: "Chart.yaml", Files: files})
//	p, err := scaffold.DeleteAPI(folder, scaffold.Deletion{Group: "batch", Version: "v1", Kind: "CronJob"})
//	err = p.Apply(handler)
//
// A Plan has every change of a command before the first byte is written: names are validated, templates rendered,
// insertion points found. If a change cannot be made, the whole plan is refused, with the file, the line and the text
// to insert by hand. Apply writes all files or none, and never overwrites a file that the plan does not change. Verbs
// keep existing files; running a verb again adds what is missing. Callers hold the project with [Hold] while they plan
// and apply.
//
// The file .slipway/base keeps all scaffolded text as it was before anyone edited it: the merge base for later updates
// and deletions.
//
// The packages below, from the top; each imports only lower ones:
//
//	newproject, newapi, newwebhook, feature, layout, deletion   a verb each
//	derived                                                     files that follow from others and may be edited, such as a chart
//	undo, lock                                                  removing a part; one command at a time
//	kind, manager, gomod, header, projectfile                   what a project consists of
//	plan, base                                                  the changes of a command: decided, reported, applied
//	piece, wiring, fieldcopy, relocate, references              text of shared files, Go code; templates has whole files
//	threeway, lines                                             merging two changed forms of a text
//	gofile, fileerror, transaction                              reading Go; errors of the file system; all files or none
package scaffold
