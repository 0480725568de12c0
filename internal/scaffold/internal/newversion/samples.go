package newversion

import (
	"bytes"
	"errors"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/piece"
	"github.com/slipway-dev/slipway/project"
)

// moveSamples plans that samples and examples are objects of the new version. Beside a hub that stays, the new version
// gets a sample of its own.
func (v *planner) moveSamples() error {
	if err := v.moveSample(); err != nil || !v.options.Storage {
		return err
	}
	for _, file := range slices.Concat(v.Code().Samples(), v.Code().Examples()) {
		if err := v.moveObjects(file); err != nil {
			return err
		}
	}
	return nil
}

// moveSample moves or copies the sample that create api made.
func (v *planner) moveSample() error {
	place, err := v.Code().SamplePlace(v.project, v.old)
	if err != nil {
		return err
	}
	if there, err := v.Exists(place.File); err != nil || !there {
		return err
	}
	to := path.Join(path.Dir(place.File), path.Base(v.project.SampleFile(v.new)))
	if there, err := v.Exists(to); err != nil || there && v.deletion != nil {
		return errors.Join(err, v.removeSample(place.File, to))
	}
	if !v.options.Storage {
		if err := v.Copy(place.File, to); err != nil {
			return err
		}
		v.leaveRenamed(to, v.after(to))
		return v.Edit(to, v.upgraded)
	}
	v.sample = [2]string{path.Base(place.File), path.Base(to)}
	if err := v.Move(place.File, to); err != nil {
		return err
	}
	v.leaveRenamed(to, v.after(to))
	if err := v.Edit(to, v.upgraded); err != nil || place.List == "" {
		return err
	}
	item := path.Join(path.Dir(place.Item), path.Base(to))
	if listed := codebase.Lists(place.List, v.after(place.List)); !slices.Contains(listed, place.File) {
		return nil
	}
	return v.Edit(place.List, piece.RenameItem(place.Item, item))
}

// removeSample plans the deletion of the old version's sample, which is what the new version's is. Another one goes
// with its version, unless the user changed it.
func (v *planner) removeSample(old, now string) error {
	if !v.hasNothingOwn(old, now) {
		return nil
	}
	return v.Remove(old)
}

func (v *planner) after(file string) []byte {
	c, err := v.Find(file)
	if err != nil {
		return nil
	}
	return c.After()
}

// moveObjects plans that the objects of the kind in a file are of the new version.
func (v *planner) moveObjects(file string) error {
	c, err := v.Find(file)
	if err != nil || !c.There() {
		return nil
	}
	if after, _ := v.upgraded(file, c.After()); bytes.Equal(after, c.After()) {
		return nil
	}
	v.hasSample = true
	v.leaveRenamed(file, c.After())
	return v.Edit(file, v.upgraded)
}

// leaveRenamed leaves a sample to the user in which renamed fields cannot be found, such as a template.
func (v *planner) leaveRenamed(file string, before []byte) {
	if len(v.paths) == 0 {
		return
	}
	for document := range bytes.SplitSeq(before, []byte("\n---")) {
		if _, all := renamedKeys(document, v.paths); !all {
			v.Leave(file + ": the names of fields in this file may be those of " + v.old.Version)
			return
		}
	}
}

var betweenDocuments = lazy.Regexp(`(?m)^---.*\n`)

// upgraded has the objects of the kind in a text be of the new version.
func (v *planner) upgraded(_ string, src []byte) ([]byte, error) {
	kind := regexp.MustCompile(`(?m)^kind:\s*["']?` + v.old.Kind + `["']?\s*(#.*)?$`)
	version := regexp.MustCompile(`(?m)^(apiVersion:\s*["']?` + regexp.QuoteMeta(apiVersion(v.old, "")) + `)` + regexp.QuoteMeta(v.old.Version) + `\b`)
	var out strings.Builder
	at := 0
	for _, next := range append(betweenDocuments().FindAllIndex(src, -1), []int{len(src), len(src)}) {
		document := src[at:next[0]]
		if kind.Match(document) {
			document = version.ReplaceAll(document, []byte("${1}"+v.new.Version))
			document, _ = renamedKeys(document, v.paths)
		}
		out.Write(document)
		out.Write(src[next[0]:next[1]])
		at = next[1]
	}
	return []byte(out.String()), nil
}

func apiVersion(r project.Resource, version string) string { return r.QualifiedGroup() + "/" + version }
