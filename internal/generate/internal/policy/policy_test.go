package policy

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/generate/internal/schema"
)

// with is a schema with one rule.
func with(s schema.Schema, rule string) *schema.Schema {
	s.Validations = append(s.Validations, schema.Validation{Rule: rule})
	return &s
}

// object is a schema with one property.
func object(name string, of *schema.Schema) *schema.Schema {
	return &schema.Schema{Type: "object", Properties: map[string]*schema.Schema{name: of}}
}

func TestExpression(t *testing.T) {
	text := schema.Schema{Type: "string"}
	nullable := schema.Schema{Type: "string", Nullable: true}
	list := func(item *schema.Schema) *schema.Schema { return &schema.Schema{Type: "array", Items: item} }
	keyed := func(item *schema.Schema) *schema.Schema {
		return &schema.Schema{Type: "array", Items: item, ListType: "map", ListMapKeys: []string{"k"}}
	}
	values := func(s *schema.Schema) *schema.Schema {
		return &schema.Schema{Type: "object", AdditionalProperties: &schema.Additional{Schema: s}}
	}
	for name, test := range map[string]struct {
		schema *schema.Schema
		want   string
	}{
		"object": {with(schema.Schema{}, "R"), "(oldObject != null && oldObject == object) || [object].all(self, R)"},
		"property": {object("a", with(text, "R")),
			"!has(object.a) || (oldObject != null && has(oldObject.a) && oldObject.a == object.a) || [object.a].all(self, R)"},
		"transition": {object("a", with(text, "self == oldSelf")),
			"!has(object.a) || !(oldObject != null && has(oldObject.a) && !([oldObject.a].all(oldSelf, [object.a].all(self, self == oldSelf))))"},
		"nullable": {object("a", with(nullable, "R")),
			"!has(object.a) || object.a == null || (oldObject != null && has(oldObject.a) && oldObject.a != null && oldObject.a == object.a)" +
				" || [object.a].all(self, R)"},
		"odd name": {object("a-b", with(text, "R")),
			`!("a-b" in object) || (oldObject != null && ("a-b" in oldObject) && oldObject["a-b"] == object["a-b"]) || [object["a-b"]].all(self, R)`},
		"reserved name": {object("in", with(text, "R")),
			`!("in" in object) || (oldObject != null && ("in" in oldObject) && oldObject["in"] == object["in"]) || [object["in"]].all(self, R)`},
		"item": {object("l", list(with(text, "R"))),
			"!has(object.l) || (oldObject != null && has(oldObject.l) && oldObject.l == object.l) || object.l.all(item1, [item1].all(self, R))"},
		"keyed item": {object("l", keyed(with(text, "R"))),
			"!has(object.l) || object.l.all(item1, (oldObject != null && has(oldObject.l) && oldObject.l.exists(old1, has(item1.k) && has(old1.k)" +
				" && item1.k == old1.k && old1 == item1)) || [item1].all(self, R))"},
		"value": {object("m", values(with(text, "R"))),
			"!has(object.m) || object.m.all(key1, (oldObject != null && has(oldObject.m) && key1 in oldObject.m && oldObject.m[key1] == object.m[key1])" +
				" || [object.m[key1]].all(self, R))"},
		"list in a map": {object("m", values(list(with(text, "R")))),
			"!has(object.m) || object.m.all(key1, (oldObject != null && has(oldObject.m) && key1 in oldObject.m && oldObject.m[key1] == object.m[key1])" +
				" || object.m[key1].all(item2, [item2].all(self, R)))"},
	} {
		t.Run(name, func(t *testing.T) {
			rules := rulesOf(test.schema)
			if len(rules) != 1 {
				t.Fatalf("%d rules", len(rules))
			}
			if diff := cmp.Diff(test.want, rules[0].expression()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if why := rules[0].refusal(); why != "" {
				t.Errorf("refused: %s", why)
			}
		})
	}
}

func TestRefusal(t *testing.T) {
	spec := &schema.Schema{Properties: map[string]*schema.Schema{
		"time": {Type: "string", Format: "date-time"}, "set": {Type: "array", ListType: "set", Items: &schema.Schema{Type: "string"}},
		"ratio": {Type: "number"}, "text": {Type: "string"}, "inner": object("when", &schema.Schema{Format: "date-time"}),
	}}
	for rule, want := range map[string]string{
		"self.text == 'self.time'":               "",
		"has(self.set) && self.text == 'x'":      "",
		"self.ratio < 2.0":                       "",
		"self.text == 'a//b'":                    "",
		`self.text == r'\' || self.text == "\""`: "",
		"'x' in self.set":                        "",
		"self.time == 'x'":                       "the format date-time",
		"self.inner.when == 'x'":                 "the format date-time",
		"has(self.inner) && self.inner != {}":    "the format date-time",
		"self == oldSelf":                        "the format date-time",
		"self.ratio * 2.0 < 3.0":                 "it calculates",
		"self.set == oldSelf.set":                "CRDs compare lists that are sets",
		"self.a__dash__b == 'x'":                 "it escapes",
		"self.text == 'x' // why":                "it has a comment",
	} {
		checked := *spec
		checked.Validations = []schema.Validation{{Rule: rule}}
		got := rulesOf(&checked)[0].refusal()
		if !strings.HasPrefix(got, want) || (want == "") != (got == "") {
			t.Errorf("%s: %q, want %q", rule, got, want)
		}
	}
}

func TestMessages(t *testing.T) {
	s := object("a", &schema.Schema{Validations: []schema.Validation{
		{Rule: "R \n  && S", Message: ""},
		{Rule: "R", Message: "must be", FieldPath: ".b", MessageExpression: "'is ' + self", Reason: "FieldValueForbidden"},
		{Rule: "self == oldSelf", MessageExpression: "'was ' + oldSelf"},
	}})
	var got []string
	for _, r := range rulesOf(s) {
		v := r.validation()
		got = append(got, v.message+"; "+v.messageExpression+"; "+v.reason)
	}
	want := []string{
		"a: failed rule: R && S; ; Invalid",
		`a.b: must be; "a: " + [object.a].map(self, string('is ' + self))[0]; Forbidden`,
		`a: failed rule: self == oldSelf; "a: " + [oldObject.a].map(oldSelf, [object.a].map(self, string('was ' + oldSelf))[0])[0]; Invalid`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// FuzzRead: every text is read to its end.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"self.a == 'x'", `r"""`, "'\\", "has(", "//", "é.a"} {
		f.Add(seed)
	}
	f.Fuzz(func(_ *testing.T, text string) { read(text) })
}
