package generate

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// rbacPackage is a package with permissions drawn at random, in comments at all
// sorts of places. All that it asks for is for roles of its own, so that many
// packages can share one manifest.
func rbacPackage(seed uint64, number int) map[string]string {
	s := &rbacSource{objectSource: objectSource{Rand: rand.New(rand.NewPCG(seed, uint64(number)+1<<32))}, number: number}
	if s.chance(15) {
		s.daring = 25
	}
	s.dense = s.daring == 0 && s.chance(15)
	var b strings.Builder
	for range s.IntN(3) {
		b.WriteString(s.rule())
	}
	fmt.Fprintf(&b, "%spackage %s\n", oneOf(&s.objectSource, "", "\n"), packageNumber(number))
	for i := range 1 + s.IntN(5) {
		b.WriteString("\n" + s.place(i))
	}
	text := b.String()
	if s.chance(5) {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return map[string]string{"permissions.go": text}
}

func packageNumber(number int) string { return fmt.Sprintf("p%04d", number) }

type rbacSource struct {
	objectSource
	number int
	dense  bool // whether rules meet often
}

// place draws a declaration with permissions somewhere about it.
func (s *rbacSource) place(i int) string {
	rules := ""
	for range 1 + s.IntN(3) {
		rules += s.rule()
	}
	switch s.IntN(8) {
	case 0:
		return fmt.Sprintf("%stype T%d struct{}\n", rules, i)
	case 1:
		return fmt.Sprintf("%s\ntype T%d struct{}\n", rules, i)
	case 2:
		return fmt.Sprintf("%sfunc F%d() {}\n", rules, i)
	case 3:
		return fmt.Sprintf("func F%d() {\n%s}\n", i, rules)
	case 4:
		return fmt.Sprintf("type T%d struct {\n%s\tA string\n}\n", i, rules)
	case 5:
		return fmt.Sprintf("// Words.\n%s// More words.\nvar V%d int\n", rules, i)
	default:
		return rules
	}
}

// rule draws a marker as a comment.
func (s *rbacSource) rule() string {
	o := &s.objectSource
	if s.dense {
		return fmt.Sprintf("// +kubebuilder:rbac:groups=%s,resources=%s,verbs=%s,roleName=%s\n", oneOf(o, "apps", "batch", "apps;batch"),
			oneOf(o, "jobs", "pods", "jobs;pods"), oneOf(o, "get", "list", "get;list"), packageNumber(s.number))
	}
	arguments := []string{}
	if s.chance(85) {
		arguments = append(arguments, "groups="+s.list(`""`, "core", "apps", "apps", "batch", "batch", "example.org", `"*"`))
	}
	if s.chance(80) {
		arguments = append(arguments, "resources="+s.list("pods", "pods", "pods/status", "deployments", "deployments", "jobs", "secrets", `"*"`, `"*/scale"`))
	}
	if s.chance(15) {
		arguments = append(arguments, "resourceNames="+s.list("one", "two", `"with space"`, "a-b", "007", "true"))
	}
	if s.chance(15) {
		arguments = append(arguments, "urls="+s.list("/metrics", "/healthz", "/healthz/*", "/debug"))
	}
	if s.chance(95) {
		arguments = append(arguments, "verbs="+s.list("get", "get", "list", "list", "watch", "create", `"*"`, "GET", "*"))
	}
	own := packageNumber(s.number)
	switch s.IntN(4) {
	case 0:
		arguments = append(arguments, "namespace="+own+oneOf(o, "", "-b"))
	case 1:
		arguments = append(arguments, "namespace="+own, "roleName="+oneOf(o, "other", `"quoted"`, own))
	default:
		arguments = append(arguments, "roleName="+own+oneOf(o, "", "", "-b"))
	}
	s.Shuffle(len(arguments), func(i, j int) { arguments[i], arguments[j] = arguments[j], arguments[i] })
	text := "+kubebuilder:rbac:" + strings.Join(arguments, ",")
	if s.chance(s.daring) {
		text = s.damage(text)
	}
	return oneOf(o, "// ", "// ", "// ", "//", "//\t", "//  ") + text + "\n" + oneOf(o, "", "", "", "", "\n")
}

// list draws a list of values, in any of its forms.
func (s *rbacSource) list(values ...string) string {
	var drawn []string
	for range 1 + s.IntN(3) {
		drawn = append(drawn, oneOf(&s.objectSource, values...))
	}
	text := strings.Join(drawn, oneOf(&s.objectSource, ";", ";", ";", "; "))
	if s.chance(8) {
		text = "{" + strings.Join(drawn, ",") + "}"
	}
	return text
}

// damage makes a marker one that is not quite right.
func (s *rbacSource) damage(text string) string {
	o := &s.objectSource
	switch s.IntN(12) {
	case 0:
		return text + oneOf(o, ",", ";", "=", " ", ",,", ",x=1", ",verbs=get", ",groups", "}", `"`, ",fileName=a.yaml", ",featureGate=A")
	case 1:
		return strings.Replace(text, "verbs", oneOf(o, "verb", "Verbs", "verbs ", " verbs", "verbs:"), 1)
	case 2:
		return strings.Replace(text, "kubebuilder:rbac:", oneOf(o, "kubebuilder:rbac=", "kubebuilder:rbac", "kubebuilder:RBAC:", "kubebuilder:rbac::", "kubebuilder:rbacs:", "kubebuilder:rbac: "), 1)
	case 3:
		return strings.Replace(text, ",", oneOf(o, ";", ", ", " ,", ",,", ""), 1)
	case 4:
		return strings.Replace(text, ";", oneOf(o, ",", ";;", " ; ", " "), 1)
	case 5:
		return strings.Replace(text, "=", oneOf(o, "", "==", "=;", "= ", "=\"", "={", ":="), 1)
	case 6:
		return strings.Replace(text, "get", oneOf(o, "", "1", "true", "get put", "'get'", "`get`", `"ge\"t"`, `"ge\nt"`, "gét", "-1", "get|put"), 1)
	case 7:
		at := s.IntN(len(text))
		return text[:at] + text[at+1:]
	case 8:
		at := s.IntN(len(text))
		return text[:at] + string(text[s.IntN(len(text))]) + text[at:]
	case 9:
		return "+kubebuilder:rbac" + oneOf(o, "", ":", "=", ":verbs=", ":verbs=get", ":groups=apps", ":verbs={}", `:verbs="",resources=""`)
	case 10:
		return strings.Replace(text, "groups=", "groups="+oneOf(o, "a&b;", `"a + b";`, "apps;core;", "{};", `"";`), 1)
	default:
		return text + " // " + oneOf(o, "why", "+kubebuilder:rbac:groups=apps,resources=pods,verbs=get")
	}
}
