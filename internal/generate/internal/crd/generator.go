package crd

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate/internal/generator"
	"github.com/slipway-dev/slipway/internal/generate/internal/load"
	"github.com/slipway-dev/slipway/internal/generate/internal/schema"
	"github.com/slipway-dev/slipway/internal/report"
)

// Options are those of controller-gen's crd generator.
type Options struct {
	IgnoreUnexportedFields     *bool    `doc:"passes over fields that Go does not export"`
	AllowDangerousTypes        *bool    `doc:"lets fields be floating point numbers, which not all languages read alike"`
	MaxDescLen                 *int     `doc:"is the greatest length of descriptions; 0 leaves them out"`
	CRDVersions                []string `marker:"crdVersions,optional" doc:"are the versions of the API of definitions: v1"`
	GenerateEmbeddedObjectMeta *bool    `doc:"writes the schema of metadata within other types too"`
	HeaderFile                 string   `marker:",optional" doc:"is the file with name a file with the first lines of generated files"`
	Year                       string   `marker:",optional" doc:"replaces YEAR in that text"`
	OmitToolVersion            *bool    `doc:"leaves out the annotation that names the version of this tool"`

	DeprecatedV1beta1CompatibilityPreserveUnknownFields *bool `doc:"sets preserveUnknownFields to false, for definitions that were v1beta1 once"`
}

// Generator returns the generator "crd".
func Generator() generator.Generator {
	g := generator.New("crd", "writes CustomResourceDefinitions", markers(), run)
	g.Noted = true
	return g
}

func run(ctx context.Context, pass *generator.Pass, options Options) error {
	header, headerErr := pass.Header(options.HeaderFile, options.Year)
	p := printing{
		schema:                schema.Writing{MaxDescription: options.MaxDescLen, Anywhere: !pass.Loader.Edition().Schemas.CutAtWords},
		header:                header,
		preserveUnknownFields: options.DeprecatedV1beta1CompatibilityPreserveUnknownFields,
	}
	if !isSet(options.OmitToolVersion) {
		p.toolVersion = pass.ToolVersion
	}
	c := newCollector(pass, schema.Options{
		AllowDangerousTypes:    isSet(options.AllowDangerousTypes),
		IgnoreUnexportedFields: isSet(options.IgnoreUnexportedFields),
		EmbeddedObjectMeta:     isSet(options.GenerateEmbeddedObjectMeta),
	}, p)
	definitions, groups := c.collect()
	if err := ctx.Err(); err != nil || len(definitions) == 0 {
		return err // options that nothing is made by may be wrong, as controller-gen's may
	}
	for _, v := range options.CRDVersions {
		if v != "v1" {
			return &report.Error{Class: report.BadProject, What: "unknown version " + v + " of CustomResourceDefinition", Where: "crd:crdVersions", Hint: "v1"}
		}
	}
	if headerErr != nil {
		return headerErr
	}
	for _, d := range definitions {
		pass.Report(d.refused()...)
	}
	addAll(groups, definitions, options.CRDVersions)
	return nil
}

func isSet(option *bool) bool { return option != nil && *option }

// addAll adds a file for each definition, in order, and one more for each version
// of CustomResourceDefinition but the first that was asked for.
func addAll(groups groups, definitions []printed, versions []string) {
	for _, d := range definitions {
		name, unit := d.Group+"_"+d.Plural, groups[d.Group]
		unit.Traced(name+".yaml", d.content, d.definition)
		for _, v := range versions[min(1, len(versions)):] {
			unit.Traced(name+"."+v+".yaml", d.content, d.definition)
		}
	}
}

// kind is a kind of the user's packages.
type kind struct{ group, name string }

// compareKinds orders kinds as controller-gen goes through them.
func compareKinds(a, b kind) int {
	return cmp.Or(strings.Compare(a.String(), b.String()), strings.Compare(a.group, b.group))
}

// String is name.group.
func (k kind) String() string {
	if k.group == "" {
		return k.name
	}
	return k.name + "." + k.group
}

// apiPackage is a package of the user with the group and version that it stands for.
type apiPackage struct {
	*load.Package
	group, version string
}

// sortedKinds returns the kinds that the packages declare, whose names namesOf tells.
func sortedKinds(packages []apiPackage, namesOf func(apiPackage) []string) []kind {
	var kinds []kind
	for _, p := range packages {
		for _, name := range namesOf(p) {
			kinds = append(kinds, kind{p.group, name})
		}
	}
	slices.SortFunc(kinds, compareKinds)
	return slices.Compact(kinds)
}

// kinds are the names of those that the package declares.
func (p apiPackage) kinds() []string {
	var names []string
	for _, d := range p.Decls() {
		if isKind(d) {
			names = append(names, d.Name())
		}
	}
	return names
}
