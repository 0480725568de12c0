package apply

import (
	"bytes"
	"path"

	"github.com/slipway-dev/slipway/internal/generate/internal/load"
)

// kinds is utils.go, which makes an empty configuration of a kind.
func (o *output) kinds() ([]byte, error) {
	f := newFile(o.Path)
	f.write("\n// ForKind returns an apply configuration type for the given GroupVersionKind, or nil if no\n",
		"// apply configuration type exists for the given GroupVersionKind.\n",
		"func ForKind(kind ", f.of("k8s.io/apimachinery/pkg/runtime/schema", "GroupVersionKind"), ") interface{} {\n\tswitch kind {\n")
	if len(o.world.configured) > 0 {
		group := o.group
		if group == "" {
			group = "core"
		}
		f.write("\t// Group=", group, ", Version=", o.version, "\n")
		for _, c := range o.world.configured {
			f.write("\tcase ", f.of(o.Package.Path, "SchemeGroupVersion"), ".WithKind(\"", public(c.name), "\"):\n",
				"\t\treturn &", f.of(o.world.refs[c.full()], c.name+suffix), "{}\n")
		}
		f.write("\n")
	}
	f.write("\t}\n\treturn nil\n}\n")
	o.converter(f)
	return o.finish(path.Base(o.Path), f)
}

// converter writes the function that makes a converter of the structures of types.
func (o *output) converter(f *file) {
	scheme := f.of(runtimePackage, "Scheme")
	if !o.Form.Managed {
		const from = "k8s.io/client-go/testing"
		f.write("\nfunc NewTypeConverter(scheme *", scheme, ") *", f.of(from, "TypeConverter"), " {\n",
			"\treturn &", f.of(from, "TypeConverter"), "{Scheme: scheme, TypeResolver: ", f.of(o.Path+"/internal", "Parser"), "()}\n}\n")
		return
	}
	f.write("\nfunc NewTypeConverter(scheme *", scheme, ") ", f.of(managedFields, "TypeConverter"), " {\n",
		"\treturn ", f.of(managedFields, "NewSchemeTypeConverter"), "(scheme, ", f.of(o.Path+"/internal", "Parser"), "())\n}\n")
}

const managedFields = "k8s.io/apimachinery/pkg/util/managedfields"

// structure is internal.go, which holds the structure of the types.
func (o *output) structure() ([]byte, error) {
	var objects []*load.TypeDecl
	if o.isDescribed() {
		objects = o.world.objects
	}
	structure, err := o.Structure(objects)
	if err != nil {
		return nil, err
	}
	if bytes.ContainsRune(structure, '`') {
		return nil, unsupported("a default with a backquote")
	}
	f := newFile(o.Path + "/internal")
	typed := "sigs.k8s.io/structured-merge-diff/" + o.Form.Merge + "/typed"
	f.write("\nfunc Parser() *", f.of(typed, "Parser"), " {\n\tparserOnce.Do(func() {\n\t\tvar err error\n",
		"\t\tparser, err = ", f.of(typed, "NewParser"), "(schemaYAML)\n\t\tif err != nil {\n",
		"\t\t\tpanic(", f.of("fmt", "Sprintf"), "(\"Failed to parse schema: %v\", err))\n\t\t}\n\t})\n\treturn parser\n}\n\n",
		"var parserOnce ", f.of("sync", "Once"), "\nvar parser *", f.of(typed, "Parser"), "\n",
		"var schemaYAML = ", f.of(typed, "YAMLObject"), "(`", string(structure), "`)\n")
	return o.finish("internal", f)
}
