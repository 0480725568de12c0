package newversion

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/piece"
	"github.com/slipway-dev/slipway/project"
)

// moveSamples plans that samples and examples are objects of the new version. Beside a hub that stays, the new version
// gets a sample of its own.
func (v *planner) moveSamples() error {
	if err := v.moveSample(); err != nil || !v.options.Storage {
		return err
	}
	v.leaveRenamed(path.Join(path.Dir(v.sampleFile), v.sample[1]))
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
	if !v.options.Storage {
		if err := v.Copy(place.File, to); err != nil {
			return err
		}
		if err := v.Edit(to, v.upgraded); err != nil {
			return err
		}
		v.leaveRenamed(to)
		return nil
	}
	v.sample, v.sampleFile = [2]string{path.Base(place.File), path.Base(to)}, place.File
	if err := v.Move(place.File, to); err != nil {
		return err
	}
	if err := v.Edit(to, v.upgraded); err != nil || place.List == "" {
		return err
	}
	item := path.Join(path.Dir(place.Item), path.Base(to))
	if listed := codebase.Lists(place.List, v.after(place.List)); !slices.Contains(listed, place.File) {
		return nil
	}
	return v.Edit(place.List, piece.RenameItem(place.Item, item))
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
	if err := v.Edit(file, v.upgraded); err != nil {
		return err
	}
	v.leaveRenamed(file)
	return nil
}

// leaveRenamed lists the lines of a sample that may have a renamed field: other fields may have the same name.
func (v *planner) leaveRenamed(file string) {
	for _, old := range slices.Sorted(maps.Keys(v.options.Rename)) {
		key := regexp.MustCompile(`(?m)^[ \t-]*["']?` + regexp.QuoteMeta(old) + `["']?:|[{,]\s*["']?` + regexp.QuoteMeta(old) + `["']?:`)
		for _, at := range key.FindAllIndex(v.after(file), -1) {
			line := 1 + bytes.Count(v.after(file)[:at[0]], []byte("\n"))
			v.Leave(fmt.Sprintf("%s: the field %s is called %s in %s: rename it here if this is that field", report.Position{File: file, Line: line}, old, v.options.Rename[old], v.new.Version))
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
		}
		out.Write(document)
		out.Write(src[next[0]:next[1]])
		at = next[1]
	}
	return []byte(out.String()), nil
}

func apiVersion(r project.Resource, version string) string { return r.QualifiedGroup() + "/" + version }
