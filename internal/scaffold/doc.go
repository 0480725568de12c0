// Package scaffold writes the files of operator projects.
//
// It is a facade: functions that plan, one for each verb, and a [Plan] that is looked at or applied.
//
//	p, err := scaffold.Init(root, scaffold.Project{Domain: "example.com", Repo: "example.com/op"})
//	p, err := scaffold.CreateAPI(root, scaffold.API{Group: "batch", Version: "v1", Kind: "CronJob", …})
//	p, err := scaffold.CreateWebhook(root, scaffold.Webhook{Group: "batch", Version: "v1", Kind: "CronJob", Defaulting: true})
//	p, err := scaffold.EditProject(root, scaffold.MultiGroup(true), scaffold.Enable(features.Metrics))
//	p, err := scaffold.Derive(root, scaffold.Derived{Folder: "dist/chart", Mark: "Chart.yaml", Files: files})
//	p, err := scaffold.DeleteAPI(root, scaffold.Deletion{Group: "batch", Version: "v1", Kind: "CronJob"})
//	err = p.Apply(handler)
//
// A Plan holds every change of a command before the first byte is written: names are validated, templates are filled
// in, insertion points are found. A change that cannot be made is refused as a whole, with the file, the line and the
// text to insert by hand. Apply writes all files or none, and never overwrites a file that it did not plan to change: a
// file that exists is kept as its owner made it. A verb that is run again completes what is missing. The code that
// plans and applies holds the project with [Hold] meanwhile.
//
// The file .slipway/base keeps all scaffolded text as it was before anyone edited it: the merge base for later updates
// and deletions.
//
// The house below, from the top; each imports only what stands lower:
//
//	newproject, api, webhook, feature, layout, deletion   a verb each
//	derived                                                files that follow from others and may be edited, such as a chart
//	undo, lock                                             taking a part out; one command at a time
//	kind, manager, gomod, header, projectfile              what a project consists of
//	plan                                                   the changes of a command: decided, reported, applied
//	piece, templates, fieldcopy, relocate, usage           text: pieces of shared files, whole files, Go code
//	threeway                                               merging two changed forms of a text
//	gofile, fileerror, transaction                         reading Go; refusals of the file system; all files or none
package scaffold
