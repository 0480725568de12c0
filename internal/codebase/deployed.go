package codebase

import (
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/makefile"
	"github.com/slipway-dev/slipway/internal/recipe"
	"github.com/slipway-dev/slipway/internal/report"
)

const (
	deployTarget = "deploy" // the Makefile target that deploys the operator
	mostTargets  = 100      // bounds how many targets are followed
)

// A Deployed describes what the Makefile's target deploy applies. Without such a target that is config/default.
type Deployed struct {
	// Folders are the folders whose kustomizations are applied. Folders that another of them builds from are left out.
	Folders []string
	// At is the command that applies the first folder, or the zero value.
	At report.Position

	// None reports that the target has commands, but none that builds a folder.
	None bool

	// Also describes the target's other commands that change the cluster, each with its place.
	Also []string
	// Image is the manager's image as the target sets it, or nil.
	Image *SetImage

	unknown string   // why the folders are unknown; "" if they are known
	edited  []string // commands that edit what is applied, each with its place
}

// Folder returns the single folder that is applied unchanged. Otherwise the error names the Makefile's line that
// prevents it.
func (d Deployed) Folder() (string, error) {
	const settle = "name the folder of the kustomization with -k"
	switch {
	case d.unknown != "":
		return "", &report.Error{Class: report.BadProject, What: "the Makefile deploys what cannot be followed: " + d.unknown, Where: place(d.At), Hint: settle}
	case len(d.Folders) > 1:
		return "", &report.Error{Class: report.BadProject, What: "the Makefile deploys several folders: " + strings.Join(d.Folders, ", "), Where: place(d.At), Hint: settle}
	case len(d.edited) > 0:
		at, change, _ := strings.Cut(d.edited[0], ": ")
		return "", &report.Error{Class: report.BadProject, What: "the Makefile deploys " + d.Folders[0] + " with a change, which this command does not make: " + change, Where: at,
			Hint: "make these changes in the kustomization, or deploy it without them: " + settle}
	}
	return d.Folders[0], nil
}

// IsSamples reports whether a path has a folder such as samples, which holds objects for a running operator.
func IsSamples(folder string) bool {
	return slices.ContainsFunc(strings.Split(folder, "/"), func(name string) bool { return strings.HasPrefix(name, "samples") })
}

// Main returns the folder that most likely deploys the operator, or "". It prefers a single folder, then
// config/default, then the first that builds a Deployment. It is config/default, too, if the target deploy builds no
// folder.
func (c *Codebase) Main(d Deployed) string {
	switch {
	case d.None && c.Kustomization(DeployedFolder) != "":
		return DeployedFolder
	case len(d.Folders) == 1:
		return d.Folders[0]
	case slices.Contains(d.Folders, DeployedFolder):
		return DeployedFolder
	}
	for _, folder := range d.Folders {
		if all, err := c.deploymentsIn(folder); err == nil && len(all) > 0 {
			return folder
		}
	}
	return ""
}

// Place returns the place of the command that applies the first folder, for messages.
func (d Deployed) Place() string { return place(d.At) }

// place formats a position without its column, which means nothing in a Makefile. The zero position is the Makefile.
func place(at report.Position) string {
	if at.Line == 0 {
		return makefile.Name
	}
	return fmt.Sprintf("%s:%d", at.File, at.Line)
}

// Builds reports whether the target is known to deploy one folder that builds from the given one.
func (c *Codebase) Builds(d Deployed, folder string) bool {
	all, err := c.Config()
	return err == nil && d.unknown == "" && len(d.Folders) == 1 && slices.Contains(all.Parts(d.Folders[0]), folder)
}

// Deployed returns what the project deploys. The error is that a file such as the Makefile cannot be read.
func (c *Codebase) Deployed() (Deployed, error) { return c.deployed() }

func (c *Codebase) readDeployed() (Deployed, error) {
	usual := Deployed{Folders: []string{DeployedFolder}}
	content, err := c.makefile()
	if err != nil {
		return usual, err
	}
	needs := makefile.Needs(content, c.getenv, c.view)
	if _, there := needs[deployTarget]; !there {
		return usual, nil
	}
	all, err := c.Config()
	if err != nil {
		return usual, err
	}
	reading := appliedReader{Codebase: c, needs: needs, texts: makefile.Texts(content, c.getenv, c.view, deployPrograms...), seen: map[string]bool{}}
	found := reading.target(deployTarget)
	d := Deployed{At: reading.at, Also: found.also, unknown: found.unknown, edited: found.edited}
	for _, folder := range found.folders {
		within := slices.ContainsFunc(found.folders, func(other string) bool {
			return other != folder && slices.Contains(all.Parts(other), folder)
		})
		if !within && !slices.Contains(d.Folders, folder) {
			d.Folders = append(d.Folders, folder)
		}
	}
	if len(d.Folders) == 0 && d.unknown == "" {
		d.None, d.unknown = true, "its target "+deployTarget+" builds no kustomization"
	}
	for _, change := range found.changes {
		if slices.ContainsFunc(d.Folders, func(folder string) bool { return all.reads(folder, change) }) {
			d.edited = append(d.edited, fmt.Sprintf("%s:%d: %s", change.File, change.Line, change.Text))
		}
	}
	c.addImages(&d, all, found.images, content)
	return d, nil
}

// reads reports whether a step edits a file that the folder builds from.
func (k *Kustomizations) reads(folder string, change recipe.Step) bool {
	below := k.reachableFiles(folder)
	return len(change.Edited(func(place string) bool {
		return below[place] || slices.ContainsFunc(k.Parts(folder), func(part string) bool { return strings.HasPrefix(place, part+"/") })
	})) > 0
}

// deployPrograms are the programs with which recipes build and apply kustomizations.
var deployPrograms = []recipe.Program{
	{Name: "kustomize", Variable: "KUSTOMIZE", Package: "sigs.k8s.io/kustomize/kustomize/v5", Filter: true},
	{Name: "kubectl", Variable: "KUBECTL", Filter: true}, {Name: "oc", Variable: "OC", Filter: true},
	{Name: "slipway", Variable: "SLIPWAY"}, {Name: "make", Variable: "MAKE"},
	{Name: "helm", Variable: "HELM", Filter: true},
}

// passThroughPrograms are the programs that apply or pass on their standard input unchanged.
var passThroughPrograms = []string{"kubectl", "oc", "tee", "cat", "kapp"}

type applied struct {
	folders []string
	unknown string
	edited  []string
	images  []SetImage
	also    []string      // descriptions of other commands that change the cluster
	changes []recipe.Step // steps that may edit what is applied
	before  []recipe.Step // steps before the last call
}

// An appliedReader follows targets of the Makefile to what they apply. At ends up at the first command that does.
type appliedReader struct {
	*Codebase
	needs map[string][]string
	texts []recipe.Text
	seen  map[string]bool
	at    report.Position
}

// target returns what a target applies. If its own recipe applies nothing, it follows the prerequisites and the targets
// that the recipe passes to make.
func (r *appliedReader) target(name string) (found applied) {
	if r.seen[name] || len(r.seen) == mostTargets {
		return found
	}
	r.seen[name] = true
	var own []recipe.Text
	its := false
	for i, text := range r.texts {
		if i == 0 || text.Target != r.texts[i-1].Target { // Target may be a long list of names
			its = slices.Contains(strings.Fields(text.Target), name)
		}
		if its {
			own = append(own, text)
		}
	}
	if len(own) > 0 && r.at.File == "" {
		r.at = report.Position{File: own[0].File, Line: own[0].Line, Column: 1}
	}
	needs := slices.Clone(r.needs[name])
	var written []string
	for _, program := range deployPrograms {
		calls := recipe.Calls(own, program, r.view)
		written = append(written, writtenBy(calls)...)
		for _, call := range calls {
			switch program.Name {
			case "make":
				needs = append(needs, call.Arguments...)
				continue
			case "kubectl", "oc", "helm":
				if folder, builds := builtFolder(program.Name, call.Arguments); (!builds || IsSamples(folder)) && r.changesCluster(call, written) {
					found.also = append(found.also, fmt.Sprintf("%s:%d also runs %s", call.File, call.Line, shownCall(program.Name, call.Arguments)))
				}
			}
			if program.Name != "helm" {
				r.call(&found, program.Name, call)
			}
		}
	}
	if len(found.folders) > 0 || found.unknown != "" {
		return found
	}
	for _, other := range needs {
		below := r.target(other)
		found.folders, found.changes, found.edited = append(found.folders, below.folders...), append(found.changes, below.changes...), append(found.edited, below.edited...)
		found.images, found.also = append(found.images, below.images...), append(found.also, below.also...)
		if found.unknown == "" {
			found.unknown = below.unknown
		}
	}
	return found
}

// call adds to an applied what one call contributes.
func (r *appliedReader) call(to *applied, program string, call recipe.Call) {
	if call.Kept != "" { // a variable holds its output, and nothing applies it
		return
	}
	at := report.Position{File: call.File, Line: call.Line, Column: 1}
	edit := func(what string) {
		to.edited = append(to.edited, place(at)+": "+strings.ReplaceAll(what, recipe.Unknown, "…"))
	}
	if words := call.Arguments; program == "kustomize" && len(words) > 2 && words[0] == "edit" && (words[1] != "set" || words[2] != "image") {
		edit("kustomize " + strings.Join(words, " "))
	}
	to.images = append(to.images, setImages(program, call)...)
	folder, builds := builtFolder(program, call.Arguments)
	if !builds && call.Unclear == "" {
		return
	}
	name, inside := recipe.Below(call.Dir, folder)
	switch _, err := r.view.Stat(name); {
	case call.Unclear != "":
		to.unknown, r.at = call.Unclear, at
		return
	case strings.Contains(folder, recipe.Unknown):
		to.unknown, r.at = "a folder depends on what only make or the shell know", at
		return
	case name != DeployedFolder && (!inside || err != nil):
		to.unknown, r.at = "the project has no folder "+folder, at
		return
	case IsSamples(name):
		return
	case len(to.folders) == 0:
		r.at = at
	}
	if !slices.Contains(to.folders, name) {
		to.folders = append(to.folders, name)
	}
	known := 0
	if n := len(to.before); n > 0 && n <= len(call.Before) && &to.before[0] == &call.Before[0] { // of the same recipe
		known = n
	}
	to.before, to.changes = call.Before, append(to.changes, call.Before[known:]...)
	for _, next := range call.Into {
		if !slices.Contains(passThroughPrograms, next) {
			edit(next + " changes what kustomize builds")
		}
	}
}

// flagsWithValue are the flags of kustomize build whose value is the next argument.
var flagsWithValue = []string{"-o", "--output", "-e", "--env", "--load-restrictor", "--helm-command", "--network-name", "--mount", "--reorder"}

// builtFolder returns the folder that a call builds. Builds is false for a call that builds none.
func builtFolder(program string, words []string) (folder string, builds bool) {
	switch {
	case len(words) == 0:
		return "", false
	case program == "slipway" && words[0] == "deploy", program != "slipway" && slices.Contains([]string{"apply", "create", "replace"}, words[0]):
		for _, name := range []string{"k", "kustomize"} {
			if folder, builds = recipe.Flag(words, name); builds {
				return folder, true
			}
		}
		return DeployedFolder, program == "slipway"
	case words[0] != "build" && words[0] != "kustomize":
		return "", false
	}
	for i, word := range words[1:] {
		if !strings.HasPrefix(word, "-") && !slices.Contains(flagsWithValue, words[i]) && word != "build" {
			return word, true
		}
	}
	return ".", true
}
