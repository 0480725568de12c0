package mutant

import (
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/test/differential/generate/oracle"
)

// comment writes what stands above a type or field: text, and count markers.
func (w *writer) comment(target string, k kind, indent, name string, count int) {
	if w.chance(6) {
		w.line("%s// A remark that belongs to nobody.\n", indent)
	}
	before := w.chance(20)
	if before {
		w.markers(target, k, indent, count)
		count = 0
		if w.chance(60) {
			w.line("")
		}
	}
	if w.chance(80) {
		w.docLines(indent, name+" "+w.pick("is a thing.", "does. More of it!", "has a name: with colon", "# is", "is 'quoted' and \"so\"", "is", "ist größer als … 3 ✓"))
	}
	w.markers(target, k, indent, count)
	if w.chance(3) {
		w.docLines(indent, "After the markers.")
	}
}

func (w *writer) docLines(indent, first string) {
	if w.chance(4) {
		w.line("%s/* %s\n%s * second line\n%s */", indent, first, indent, indent)
		return
	}
	w.line("%s// %s", indent, first)
	for w.chance(25) {
		w.line("%s//%s", indent, w.pick("", " Another line, which is so long that whoever writes it into a file of eighty columns must fold it somewhere.",
			" TODO: nothing", " ---", " ```", "   indented", "\ttabbed", " - item", " Deprecated: use more.", " trailing  ", " https://example.com/?a=b#c", "nospace", " Tab\tinside", " +notamarker", " ~~~ ", " \\n literal", " NB: {a: b}"))
	}
}

// markers writes count markers for target.
func (w *writer) markers(target string, k kind, indent string, count int) {
	for range count {
		d := w.definition(target, k)
		w.put(d, k, indent)
	}
}

// put writes one marker, and what it needs beside it.
func (w *writer) put(d oracle.Definition, k kind, indent string) {
	text := w.marker(d, k)
	w.source.Markers = append(w.source.Markers, d.Name+" "+d.Target)
	w.line("%s//%s+%s", indent, w.pick(" ", " ", " ", " ", "", "  "), text)
	if strings.HasSuffix(d.Name, "istType") && strings.HasSuffix(text, "=map") {
		key := strings.Replace(d.Name, "istType", "istMapKey", 1)
		w.line("%s// +%s=%s", indent, key, w.pick("name", "type", "a", "b"))
		w.source.Markers = append(w.source.Markers, key+" "+d.Target)
	}
}

// definition chooses a marker, mostly one that fits.
func (w *writer) definition(target string, k kind) oracle.Definition {
	for {
		d := w.definitions[w.IntN(len(w.definitions))]
		switch wrongTarget := d.Target != target; {
		case wrongTarget && !w.chance(w.wild/2):
		case !fits(d.Name, k) && !w.chance(w.wild):
		default:
			return d
		}
	}
}

// fits reports whether a marker can stand at a value of a kind.
func fits(name string, k kind) bool {
	if rest, ok := strings.CutPrefix(name, "kubebuilder:validation:items:"); ok {
		item, isList := itemKind(k)
		return isList && fits("kubebuilder:validation:"+rest, item)
	}
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(name, p) })
	}
	switch {
	case has("MaxItems", "MinItems", "UniqueItems", "maxItems", "istType"):
		_, isList := itemKind(k)
		return isList || k == namedListKind
	case has("istMapKey"):
		return false // listType brings one
	case has("Properties"):
		return k == mapKind
	case has("mapType"):
		return k == mapKind
	case has("structType", "OneOf"):
		return k == structKind
	case has("Length", "Pattern"):
		return k == stringKind || k == intOrStringKind
	case has("imum", "MultipleOf"):
		return k == integerKind || k == numberKind
	case has("k8s:enum", "skipversion", "kubebuilder:skip", "unserved"):
		return false // mostly a mistake
	case has("EmbeddedResource"):
		return k == structKind || k == anyKind || k == jsonKind
	case strings.HasSuffix(name, ":Type"):
		return k != anyKind && k != numberKind && k != intOrStringKind
	}
	return true
}

// itemKind is the kind of a list's items.
func itemKind(list kind) (kind, bool) {
	switch list {
	case stringsKind:
		return stringKind, true
	case integersKind:
		return integerKind, true
	case listsKind:
		return stringsKind, true
	case mapsKind:
		return mapKind, true
	case structsKind:
		return structKind, true
	}
	return 0, false
}

// marker writes a marker without its plus sign.
func (w *writer) marker(d oracle.Definition, k kind) string {
	name := d.Name
	if w.chance(w.wild / 3) {
		name = misspelt(w, name)
	}
	switch {
	case len(d.Arguments) == 0:
		if w.chance(w.wild / 6) {
			return name + "=true"
		}
		return name
	case len(d.Arguments) == 1 && (d.Arguments[0].Name == "" || d.Arguments[0].Name == "value"):
		if d.Arguments[0].Optional && w.chance(20) {
			return name
		}
		return name + w.pick("=", "=", "=", ":=") + w.value(d, d.Arguments[0], k)
	}
	var parts []string
	for _, i := range w.Perm(len(d.Arguments)) {
		a := d.Arguments[i]
		if a.Optional && w.chance(60) || !a.Optional && w.chance(w.wild/2) {
			continue
		}
		parts = append(parts, a.Name+w.pick("=", "=", "=", " = ")+w.value(d, a, k))
	}
	if w.chance(w.wild / 2) {
		parts = append(parts, w.pick("unknown=1", "", "name=again", "=", "x"))
	}
	if len(parts) == 0 {
		return name
	}
	return name + ":" + strings.Join(parts, w.pick(",", ",", ", "))
}

func misspelt(w *writer, name string) string {
	i := w.IntN(len(name))
	switch w.IntN(3) {
	case 0:
		return name[:i] + name[i+1:]
	case 1:
		return name[:i] + "x" + name[i:]
	}
	return strings.ToLower(name)
}

// value writes an argument.
func (w *writer) value(d oracle.Definition, a oracle.Argument, k kind) string {
	if w.chance(w.wild / 2) {
		return w.pick("", "\"", "{", "}", "'x'", "`", "-", "1.5.2", "{a", "a}", "\"\\q\"", "0x1F", "1_000", "+5", "{{}}", "{:}", "a b", " 5", "5 ", "null", "[]", "[1]", "^[a-z]{2}$", "{a: -1.5}", "a;b", "{a,b}")
	}
	if special := w.special(d.Name, a.Name, k); special != "" {
		return special
	}
	switch strings.TrimPrefix(a.Type, "*") {
	case "int":
		return w.pick("0", "1", "5", "100", "2147483647", "12")
	case "float64":
		return w.number(k)
	case "bool":
		return w.pick("true", "true", "false")
	case "[]string":
		return w.pick("a;b", "{a,b}", "a", "\"x y\";z", "{\"a\"}", "k=v", "\"k=v\";\"l=w=x\"", "{}", "a=b;c=d", "all", "{\"x.example.com/y=z, w\"}")
	case "[]<any>":
		return w.pick("a;b;c", "\"a\";\"b\"", "1;2;3", "{a,b}", "{1,2}", "true;false", "\"\";x", "1.5;2", "a", "\"true\";yes", "{\"1\",\"2\"}", "-1;0", "8Gi;16Gi", "\"a;b\";c")
	case "<any>":
		return w.any(k)
	}
	return w.str()
}

func (w *writer) number(k kind) string {
	if k == numberKind || w.chance(w.wild) {
		return w.pick("0.5", "1e3", "-2.5", "1e21", "100", "1.0", ".5", "1e-7", "123456789.125", "-0", "1E400", "Inf")
	}
	return w.pick("0", "1", "-5", "100", "1e3", "1000000", "10.0", "65535", "123456789012")
}

func (w *writer) str() string {
	return w.pick("word", "two words", "\"quoted\"", "\"with, comma\"", "`raw`", "\"tab\\t\"", "\"\"", "1", "true", "a-b_c.d/e", "\"ünïcödé\"", "'single'", "1.2.3", "\"line\\nbreak\"",
		"https://example.com/x", "\"- x\"", "\"a: b\"", "\"#x\"", "yes", "\" lead\"", "08", "0o7", "1e5", "~", "null", "\"<&>\"", "2024-01-15", "\"\\u2028\"", "`\"`", ".spec.x")
}

// any is a value of any type, mostly one that the kind has.
func (w *writer) any(k kind) string {
	byKind := map[kind][]string{
		stringKind:  {"word", "\"quoted\"", "\"\"", "`raw`", "\"8\"", "two words", "1s", "\"2020-01-01T00:00:00Z\"", "on"},
		integerKind: {"0", "1", "-5", "100"},
		numberKind:  {"0.5", "1", "-1.25", "1e3"},
		boolKind:    {"true", "false"},
		stringsKind: {"{a,b}", "{}", "a;b", "{\"x\"}", "{\"x, y\", z}", "{1,2}", "{{a},{b,c}}"},
		structsKind: {"{}", "{{a:1}}", "{{a: \"x\", b: {c: true}}}", "{{\"a\":{\"b\":\"c\"}},{\"a\":{}}}", "{1,2}"},
		mapKind:     {"{}", "{a: b}", "{\"a\":\"b\",\"c\":\"d\"}", "{a: 1, b: {c: d}}", "{\"a b\": {1,2}}"},
		structKind:  {"{}", "{a: b}", "{\"a\": 1}", "{a: {b: {c, d}}}", "{name: \"x\", size:-1.5, on: true}"},
	}
	if values := byKind[k]; values != nil && !w.chance(8) {
		return w.pick(values...)
	}
	return w.pick("x", "1", "{}", "{a}", "true", "\"x;y\"", "a;1;true", "{a: {}}", "1.50", "1e21", "0.1", "9007199254740993", "\"<b>&\"", "100Mi", "{\"a\":null}")
}

// jsonTypes are what +Type can say of a value without contradicting the rest.
var jsonTypes = map[kind]string{
	stringKind: "string", integerKind: "integer", boolKind: "\"boolean\"", mapKind: "object", structKind: "object", jsonKind: "`object`",
	stringsKind: "array", structsKind: "array", integersKind: "array", listsKind: "array", mapsKind: "array", namedListKind: "array",
}

// special are arguments that must be of a certain form.
func (w *writer) special(marker, argument string, k kind) string {
	switch {
	case marker == "default":
		return w.pick("\"x\"", "1", "true", "{}", "[]", "{\"a\":[1,2.5,\"z\"]}", "null", "ref(Other)", "1.0", "\"\"", "0", "[\"a\"]", "1e3", "12345678901234567890", "\"<&>\"")
	case strings.HasSuffix(marker, "istType"):
		return w.pick("map", "map", "map", "set", "atomic")
	case marker == "mapType", marker == "structType":
		return w.pick("atomic", "granular")
	case argument == "url":
		return w.pick("https://example.com/a?b=c", "\"https://example.com\"", "/path", "http://x")
	case argument == "reason":
		return w.pick("FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "\"FieldValueDuplicate\"")
	case argument == "rule":
		return w.pick("\"self == oldSelf\"", "`self.a > 1 && has(self.b)`", "\"size(self) < 3\"", "true", "\"self.all(x, x.y == 'z')\"", "\"a\\nb\"")
	case argument == "scope":
		return w.pick("Cluster", "Namespaced", "\"Cluster\"")
	case argument == "path", argument == "singular":
		return w.pick("things", "thing", "\"kinds\"")
	case strings.HasSuffix(marker, ":Type"):
		return jsonTypes[k]
	case strings.HasSuffix(marker, ":Format"):
		return w.pick("date-time", "int64", "\"email\"", "cidr", "uuid")
	case strings.HasSuffix(marker, ":Pattern"):
		return w.pick("`^[a-z]+$`", "\"^a\\\\.b$\"", "^x$", "`^(a|b),?;\"'$`", "\"\"", "`^\\d{1,3}$`")
	case strings.HasSuffix(marker, "OneOf"):
		return w.pick("{zz,yy}", "zz;yy", "{z}", "{}", "{zz,yy,xx}")
	case marker == "kubebuilder:metadata":
		return w.pick("a=b", "\"example.com/x=y z\"", "a=b;c=d", "{\"q=1\",\"r=\"}", "\"k=v=w\"")
	case marker == "kubebuilder:title":
		return w.pick("\"A title\"", "Title", "two words", "\"\"", "`x: y`")
	case marker == "groupName":
		return w.pick("example.com", "other.example.com")
	case marker == "versionName":
		return w.pick("v1", "v3", "v1beta1")
	case argument == "type" && marker == "kubebuilder:printcolumn":
		return w.pick("string", "integer", "date", "\"boolean\"")
	}
	return ""
}
