package mutant

import (
	"fmt"
	"strings"
)

// kind is what a value is in JSON, as far as markers care.
type kind int

const (
	stringKind kind = iota
	integerKind
	numberKind
	boolKind
	stringsKind  // a list of strings
	structsKind  // a list of anything else
	integersKind // a list of integers
	listsKind    // a list of lists of strings
	mapsKind     // a list of maps
	mapKind
	structKind
	intOrStringKind
	namedListKind // a list that has a name: what its items are is said there
	jsonKind      // any JSON
	anyKind
)

// typeExpression is a Go type that a field may have.
type typeExpression struct {
	text string
	kind kind
}

// common are types that APIs have.
var common = []typeExpression{
	{"string", stringKind}, {"string", stringKind}, {"string", stringKind}, {"*string", stringKind}, {"rune", integerKind},
	{"int", integerKind}, {"int32", integerKind}, {"*int64", integerKind}, {"uint8", integerKind}, {"uint64", integerKind}, {"byte", integerKind},
	{"bool", boolKind}, {"*bool", boolKind},
	{"[]string", stringsKind}, {"[]string", stringsKind}, {"*[]string", stringsKind}, {"[3]string", stringsKind}, {"[]*string", stringsKind}, {"[]byte", stringKind}, {"[4]byte", structsKind},
	{"[][]byte", stringsKind}, {"[][]string", listsKind}, {"[]int32", integersKind}, {"[]int64", integersKind}, {"[]map[string]string", mapsKind}, {"[]bool", structsKind},
	{"map[string]string", mapKind}, {"map[string]int", mapKind}, {"map[string][]string", mapKind}, {"map[string]map[string]bool", mapKind}, {"map[string]*int32", mapKind}, {"map[string][]byte", mapKind},
	{"metav1.Time", anyKind}, {"*metav1.Time", anyKind}, {"metav1.MicroTime", anyKind}, {"metav1.Duration", anyKind}, {"resource.Quantity", anyKind},
	{"*intstr.IntOrString", anyKind}, {"runtime.RawExtension", structKind}, {"apiextensionsv1.JSON", jsonKind}, {"metav1.ObjectMeta", structKind}, {"*metav1.LabelSelector", structKind},
	{"[]metav1.Condition", structsKind}, {"corev1.LocalObjectReference", structKind}, {"*corev1.SecretKeySelector", structKind}, {"corev1.ResourceList", mapKind}, {"[]corev1.EnvVar", structsKind},
	{"corev1.PullPolicy", anyKind}, {"corev1.Protocol", anyKind}, {"*corev1.ResourceRequirements", structKind}, {"map[corev1.ResourceName]resource.Quantity", mapKind}, {"[]corev1.LocalObjectReference", structsKind},
	{"metav1.FieldsV1", structKind}, {"[]metav1.OwnerReference", structsKind}, {"corev1.Taint", structKind}, {"metav1.TypeMeta", structKind}, {"[]apiextensionsv1.JSON", structsKind}, {"map[string]apiextensionsv1.JSON", mapKind},
}

// rare are types that do not belong into APIs.
var rare = []typeExpression{
	{"float64", numberKind}, {"float32", numberKind}, {"any", anyKind}, {"interface{}", anyKind}, {"error", anyKind}, {"func()", anyKind}, {"chan int", anyKind},
	{"map[int]string", mapKind}, {"map[string]any", mapKind}, {"struct{ A string `json:\"a\"` }", structKind}, {"complex64", anyKind}, {"(string)", stringKind}, {"uintptr", integerKind},
	{"map[string]struct{}", mapKind}, {"[]any", structsKind}, {"Unknown", anyKind}, {"metav1.Unknown", anyKind}, {"unknown.Type", anyKind}, {"map[bool]string", mapKind}, {"**string", stringKind},
	{"map[string](string)", mapKind}, {"[]map[string]string", structsKind}, {"map[string][3]int", mapKind}, {"runtime.Object", anyKind}, {"*[]*map[string]*[]string", structsKind}, {"[]float64", structsKind},
}

// typeOf chooses a type for a field.
func (w *writer) typeOf() typeExpression {
	if w.chance(w.wild / 2) {
		return rare[w.IntN(len(rare))]
	}
	if len(w.named)+len(w.sharedNames) > 0 && w.chance(45) {
		return w.namedExpression()
	}
	return common[w.IntN(len(common))]
}

func (w *writer) namedExpression() typeExpression {
	all, prefix := w.named, ""
	if len(all) == 0 || len(w.sharedNames) > 0 && w.chance(30) {
		all, prefix = w.sharedNames, "shared."
	}
	if len(all) == 0 {
		return common[0]
	}
	t := all[w.IntN(len(all))]
	name := prefix + t.name
	if _, isList := itemKind(t.kind); isList {
		t.kind = namedListKind
	}
	if prefix != "" && t.kind < boolKind+1 {
		t.kind = anyKind // of types elsewhere only lists and maps are known
	}
	switch w.IntN(10) {
	case 0:
		return typeExpression{"[]" + name, structsKind}
	case 1:
		return typeExpression{"map[string]" + name, mapKind}
	case 2:
		return typeExpression{"*" + name, t.kind}
	case 3:
		return typeExpression{"[]*" + name, structsKind}
	case 4:
		return typeExpression{"map[string][]" + name, mapKind}
	case 5:
		if t.kind == stringKind {
			return typeExpression{"map[" + name + "]string", mapKind}
		}
	}
	return typeExpression{name, t.kind}
}

// types declares some types.
func (w *writer) types(prefix string, count int) {
	for i := range count {
		name := fmt.Sprintf("%s%d", prefix, i)
		if w.chance(50) || i == 0 {
			w.structure(name, 1+w.IntN(4))
			w.named = append(w.named, namedType{name, structKind})
			continue
		}
		t := w.typeOf()
		w.comment("type", t.kind, "", name, w.IntN(3))
		equals := ""
		if w.chance(12) && (!strings.ContainsAny(t.text, "[]*({") || w.chance(w.wild)) {
			equals = "= "
		}
		w.line("type %s %s%s\n", name, equals, t.text)
		w.extras(name, t)
		if t.kind == structKind && equals == "" {
			t.kind = anyKind // not to be embedded: it may be anything by name only
		}
		w.named = append(w.named, namedType{name, t.kind})
	}
}

// extras are methods and constants of a type.
func (w *writer) extras(name string, t typeExpression) {
	if t.kind == stringKind && t.text == "string" && w.chance(40) {
		w.line("const (\n\t%sB %s = \"b\"\n\t%sA %s = \"a\\n\\\"\"\n\t%sC = %s(\"c\")\n)\n", name, name, name, name, name, name)
	}
	switch w.IntN(30) {
	case 0:
		w.line("func (%s) MarshalJSON() ([]byte, error) { return nil, nil }\n", name)
	case 1:
		w.line("func (*%s) MarshalText() (text []byte, err error) { return nil, nil }\n", name)
	}
}

// structure declares a struct.
func (w *writer) structure(name string, fields int, more ...string) {
	w.comment("type", structKind, "", name, w.IntN(8)/4)
	w.line("type %s struct {", name)
	for _, m := range more {
		w.line("%s", m)
	}
	for i := range fields {
		w.field(name, i)
	}
	w.line("}\n")
}

func (w *writer) field(owner string, i int) {
	t := w.typeOf()
	name := fmt.Sprintf("%c%s", 'A'+i, w.pick("", "Field", "B"))
	if w.chance(2) {
		name = fmt.Sprintf("f%d", i)
	}
	tag := w.tag(i)
	if len(w.named) > 0 && w.chance(8) {
		if n := w.named[w.IntN(len(w.named))]; n.name != owner && n.kind == structKind {
			w.comment("field", structKind, "\t", name, w.IntN(6)/5)
			w.line("\t%s%s `json:\"%s\"`", w.pick("", "", "*"), n.name, w.pick(",inline", ",inline", ",inline", "", "embedded", ",omitempty"))
			return
		}
	}
	if owner[len(owner)-1]%2 == 0 && w.chance(6) { // recursive
		t = typeExpression{w.pick("[]", "*", "map[string]") + owner, anyKind}
	}
	w.comment("field", t.kind, "\t", name, w.IntN(4))
	if w.chance(3) {
		name += ", " + name + "2"
	}
	w.line("\t%s %s %s%s", name, t.text, tag, w.pick("", "", "", "", "", "", " // +optional", " // a remark"))
	if w.chance(6) {
		w.line("")
	}
}

func (w *writer) tag(i int) string {
	name := fmt.Sprintf("%c%s", 'a'+i, w.pick("", "", "", "B", "-x"))
	if w.chance(4) {
		name = w.pick("true", "y", "123", "$ref", "null", "0x1", "metadata", "a.b", "1e3", "~", "x", "x", "yes", "No")
	}
	switch {
	case w.chance(w.wild / 3):
		return w.pick("", "`json:\"-\"`", "`json:\"-,\"`", "`yaml:\"x\"`", "`json:\",omitempty\"`", "`json:x`", "\"json:\\\"q\\\"\"", "`json:\"\"`")
	case w.chance(40):
		return "`json:\"" + name + "\"`"
	case w.chance(10):
		return "`json:\"" + name + ",omitzero\" protobuf:\"bytes,1,opt\"`"
	}
	return "`json:\"" + name + ",omitempty\"`"
}
