package dependency

import (
	"context"
	"errors"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/report"
)

// options are those that lose no field: what metadata within other types has, and numbers with a fraction.
const options = "allowDangerousTypes=true,generateEmbeddedObjectMeta=true,maxDescLen=0"

// generate makes definitions from Go types. Kinds whose types cannot be read become missing.
func (f *Found) generate(ctx context.Context, p Project, kinds []kind) error {
	for len(kinds) > 0 {
		same := func(k kind) bool {
			return slices.Equal(k.groups, kinds[0].groups) && k.module.Path == kinds[0].module.Path
		}
		var together []kind
		for _, k := range kinds {
			if same(k) {
				together = append(together, k)
			}
		}
		kinds = slices.DeleteFunc(slices.Clone(kinds), same)
		if err := f.generateGroup(ctx, p, together); err != nil {
			return err
		}
	}
	return nil
}

// generateGroup makes the definitions of a group: versions of a kind share one.
func (f *Found) generateGroup(ctx context.Context, p Project, kinds []kind) error {
	var paths []string
	for _, k := range kinds {
		paths = append(paths, k.path)
	}
	slices.Sort(paths)
	run := generate.Options{Dir: p.Root, Paths: slices.Compact(paths), Uses: []generate.Use{{Name: "crd", Options: options}}, DryRun: true}
	result, err := generate.Run(ctx, run)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var objects []*unstructured.Unstructured
	for _, file := range result.Files {
		if result.Failed() {
			break // a schema with mistakes would lose fields
		}
		objects = append(objects, definitionsIn(file.Content)...)
	}
	for _, k := range kinds {
		if at := slices.IndexFunc(objects, k.isDefinedBy); at >= 0 {
			store(objects[at])
			f.add(objects[at], k.module.name()+", generated from the types in ."+strings.TrimPrefix(k.path, k.module.Path))
			continue
		}
		f.Missing = append(f.Missing, Missing{k.full(), why(result, err)})
	}
	return nil
}

// store has one version stored, where the types do not say which.
func store(object *unstructured.Unstructured) {
	versions, _, _ := unstructured.NestedSlice(object.Object, "spec", "versions")
	is := func(v any) bool { version, _ := v.(map[string]any); return version["storage"] == true }
	if len(versions) == 0 || slices.ContainsFunc(versions, is) {
		return
	}
	if last, ok := versions[len(versions)-1].(map[string]any); ok {
		last["storage"] = true
		_ = unstructured.SetNestedSlice(object.Object, versions, "spec", "versions") // its place is there
	}
}

// why is why there is no definition.
func why(result generate.Result, err error) string {
	if known, ok := errors.AsType[*report.Error](err); ok && known.Next != "" {
		return firstLine(known.Error()) + "; try: " + known.Next
	}
	if err != nil {
		return firstLine(err.Error())
	}
	if at := slices.IndexFunc(result.Findings, func(finding report.Finding) bool { return finding.Fatal }); at >= 0 {
		return result.Findings[at].Message
	}
	return "its module has no CRD, and none can be generated from its types"
}
