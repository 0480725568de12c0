package generate

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// arguments are webhook markers' arguments with values that are fine, odd or wrong.
var arguments = map[string][]string{
	"mutating":                {"true", "false", "true", "false", "yes", "1", "", `"true"`, "True"},
	"failurePolicy":           {"fail", "Ignore", "FAIL", "never", "", `"fail"`, "a b", "a:b"},
	"matchPolicy":             {"Exact", "equivalent", "exakt", "", `"Exact"`},
	"sideEffects":             {"None", "none", "NoneOnDryRun", "Some", "Unknown", "", "no"},
	"timeoutSeconds":          {"1", "30", "10", "0", "31", "-1", "010", "0x10", "1.5", "10s", "", "99999999999999999999", "4294967306"},
	"groups":                  {"apps", "apps;batch", "core", `""`, "*", "{a,b}", "{a,}", "a;", ";a", `"a;b"`, "", "{}", `{"a", core}`, "a b;c", "`x`", "1;2", "true", "no", "{a;b}", "a.b-c/d"},
	"resources":               {"xs", "xs/status;ys", "*", "*/*", "{}", "", "é;ü", "a:b", `"#x"`, "- a", "x,", "a#b", "'a'", "a'b'", "a`b"},
	"verbs":                   {"create", "create;update;delete;connect", "*", "Create;UPDATE", "patch", "{create, update}", "", "{}", "create update"},
	"versions":                {"v1", "v1;v1beta1", "*", "1", "1.5", "08", "0o7", "null", "~", "2020-01-01", "", "{v1}"},
	"name":                    {"vx.example.com", "a.b.c", "a", "", `"a: b"`, "a b c", "10.b.c", "9.b.c", "_.b.c", "Z.b.c", "x" + strings.Repeat("long.", 40), `"\u00e9"`, `"a\nb"`, `"\x01"`, `"tab\t"`, "<a&b>"},
	"path":                    {"/validate-x", "x", "", "/a b", "/a;b", `"/a,b"`, "/%zz", "`/a`", "/a=b", "/a?b=c&d=<e>"},
	"url":                     {`"https://example.com:9443/x"`, "https://example.com", `""`, "x", ""},
	"serviceName":             {"s", "", "1", "true", `"a"`},
	"serviceNamespace":        {"n", "", "null"},
	"servicePort":             {"443", "0", "-1", "70000", "4294967739", "x", "", "1.0"},
	"webhookVersions":         {"v1", "v1;v1", "v1beta1", "{}", "", "{v1}", "v2;v1"},
	"admissionReviewVersions": {"v1", "v1;v1beta1", "{v1,v1beta1}", "{}", "", "v2", `""`},
	"reinvocationPolicy":      {"Never", "ifneeded", "Always", "", "IfNeeded"},
	"patch":                   {"`{}`", `"{}"`, "`null`", "{}", `"{\"timeoutSeconds\":5}"`},
	// No such arguments.
	"verb": {"create"}, "Name": {"a"}, "operations": {"create"}, "names": {"x"}, "": {"x"}, "time outSeconds": {"1"}, "é": {"1"}, "mutating=": {"true"},
}

// required are the arguments that a webhook cannot do without; those that come
// first in arguments are fine.
var required = []string{"mutating", "failurePolicy", "sideEffects", "groups", "resources", "verbs", "versions", "name", "path", "admissionReviewVersions"}

// patches are strategic merge patches, right and wrong.
var patches = []string{
	`{}`, `null`, `[]`, `1`, ``, `{`, `{"timeoutSeconds":25}`, `{"timeoutSeconds":null}`, `{"timeoutSeconds":"25"}`, `{"timeoutSeconds":31}`, `{"timeoutSeconds":1.5}`, `{"timeoutSeconds":1,"timeoutSeconds":2}`,
	`{"TimeoutSeconds":25}`, `{"unknown":null}`, `{"unknown":1}`, `{"name":null}`, `{"name":"n.b.c"}`, `{"name":5}`, `{"sideEffects":null}`, `{"sideEffects":"Some"}`, `{"sideEffects":"NoneOnDryRun"}`, `{"sideEffects":"Unknown"}`,
	`{"admissionReviewVersions":null}`, `{"admissionReviewVersions":[]}`, `{"admissionReviewVersions":["v2"]}`, `{"reinvocationPolicy":"Never"}`, `{"reinvocationPolicy":null}`, `{"failurePolicy":null}`, `{"failurePolicy":"x"}`, `{"matchPolicy":"x"}`,
	`{"namespaceSelector":{"matchLabels":{"a":"true"}}}`, `{"namespaceSelector":{"matchLabels":{"a":true}}}`, `{"namespaceSelector":{"matchLabels":{"a":null}}}`, `{"namespaceSelector":{"matchLabel":{"a":"b"}}}`, `{"namespaceSelector":{}}`, `{"namespaceSelector":null}`, `{"namespaceSelector":[]}`, `{"namespaceSelector":"x"}`,
	`{"objectSelector":{"matchExpressions":[{"key":"tier","operator":"In","values":["b","a"]}]}}`, `{"objectSelector":{"matchExpressions":[{"key":"tier","operators":"In"}]}}`, `{"objectSelector":{"matchExpressions":[{"key":"tier","operator":"Exists","values":null}]}}`, `{"objectSelector":{"matchExpressions":{}}}`,
	`{"matchConditions":[{"name":"a","expression":"x < 1"},{"name":"b","expression":"true"}]}`, `{"matchConditions":[{"expression":"true"}]}`, `{"matchConditions":[{"name":"a","expression":"1"},{"name":"a","expression":"2"}]}`, `{"matchConditions":[{"name":"a","$patch":"delete"}]}`, `{"matchConditions":[{"$patch":"replace"}]}`, `{"matchConditions":["a"]}`, `{"matchConditions":null}`, `{"$setElementOrder/matchConditions":[{"name":"b"},{"name":"a"}],"matchConditions":[{"name":"a","expression":"1"},{"name":"b","expression":"2"}]}`,
	`{"$setElementOrder/matchConditions":[{"name":"b"}],"matchConditions":[{"name":"a","expression":"1"}]}`, `{"$setElementOrder/matchConditions":"a"}`, `{"$setElementOrder/unknown":[]}`, `{"$setElementOrder/name":[]}`, `{"$setElementOrder/":[]}`, `{"$setElementOrder/admissionReviewVersions":["v1"]}`,
	`{"$deleteFromPrimitiveList/admissionReviewVersions":["v1"]}`, `{"$deleteFromPrimitiveList/admissionReviewVersions":"v1"}`, `{"$deleteFromPrimitiveList/unknown":["v1"]}`, `{"$deleteFromPrimitiveList/rules":[{}]}`,
	`{"$patch":"delete"}`, `{"$patch":"replace"}`, `{"$patch":"merge"}`, `{"$patch":1}`, `{"$patch":null}`, `{"$unknown":1}`, `{"$retainKeys":["name","sideEffects","admissionReviewVersions"]}`, `{"$retainKeys":["name"],"name":"x.y.z"}`, `{"$retainKeys":"name"}`, `{"$retainKeys":[1]}`, `{"$retainKeys":[]}`,
	`{"clientConfig":{"caBundle":"Zm9v"}}`, `{"clientConfig":{"caBundle":"%%"}}`, `{"clientConfig":{"caBundle":[1,2]}}`, `{"clientConfig":{"caBundle":null}}`, `{"clientConfig":{"service":null,"url":"https://x"}}`, `{"clientConfig":{"service":{"port":9443}}}`, `{"clientConfig":{"service":{"$patch":"replace","name":"n","namespace":"m"}}}`, `{"clientConfig":{"$patch":"delete"}}`, `{"clientConfig":null}`, `{"clientConfig":{"service":{"path":null}}}`, `{"clientConfig":{"$retainKeys":["url"],"url":"u"}}`, `{"clientConfig":{"service":{"port":99999999999}}}`,
	`{"rules":[]}`, `{"rules":null}`, `{"rules":[{"apiGroups":["x"],"apiVersions":["v1"],"operations":["CREATE"],"resources":["y"],"scope":"Cluster"}]}`, `{"rules":[{"scope":"*"}]}`, `{"rules":[{"scopes":"*"}]}`, `{"rules":[{"operations":["$patch"]}]}`, `{"rules":[{"$patch":"replace"},{"scope":"*"}]}`, `{"rules":[{"$patch":"delete"}]}`, `{"rules":[{"$patch":"merge"}]}`, `{"rules":[null]}`, `{"rules":["x"]}`, `{"rules":{}}`,
	`{"namespaceSelector":{"matchLabels":{"$patch":"delete"}}}`, `{"namespaceSelector":{"matchLabels":{"$patch":"replace","a":"b"}}}`, `{"namespaceSelector":{"matchLabels":{"$patch":"merge","a":"b"}}}`, `{"namespaceSelector":{"matchLabels":{"$x":"y"}}}`, `{"namespaceSelector":{"matchLabels":{"$retainKeys":["a"],"a":"b"}}}`, `{"namespaceSelector":{"matchLabels":{"$setElementOrder/a":["x"]}}}`, `{"namespaceSelector":{"$patch":"delete","matchLabels":{"a":"b"}}}`, `{"namespaceSelector":{"$patch":"replace","matchLabels":{"a":"b"}}}`,
	`{"namespaceSelector":{"matchLabels":{"a":{"b":1}}}}`, `{"namespaceSelector":{"matchLabels":{"a":[1]}}}`, `{} {}`, `{}x`, `{"name":"\ud800.a.b"}`, `{"namespaceSelector":{"matchLabels":{"long":"` + strings.Repeat("words that fold ", 12) + `"}}}`, `{"namespaceSelector":{"matchLabels":{"10":"a","9":"b","a":"c","A":"d","_":"e","a10":"f","a9":"g"}}}`,
	`{"namespaceSelector":{"matchLabels":{"a":"1","b":"true","c":"null","d":"1e3","e":"0x1","f":"y","g":"~","h":"","i":" x","j":"x\ny","k":"\t","l":"\u2028","m":"#","n":"a: b"}}}`,
}

// webhookMutant is a random package with webhook markers.
func webhookMutant(random *rand.Rand) string {
	var b strings.Builder
	b.WriteString("package x\n")
	for range 1 + random.IntN(4) {
		b.WriteString(placed(random, webhookMutantMarker(random)))
	}
	return b.String()
}

// placed puts a marker somewhere; mostly where it belongs.
func placed(random *rand.Rand, marker string) string {
	n := random.IntN(1 << 30)
	switch random.IntN(24) {
	case 0:
		return fmt.Sprintf("\n// T is one.\n// %s\ntype T%d struct{}\n", marker, n)
	case 1:
		return fmt.Sprintf("\n// %s\n\n// T is one.\ntype T%d struct{}\n", marker, n)
	case 2:
		return fmt.Sprintf("\n// %s\nfunc F%d() {}\n", marker, n)
	case 3:
		return fmt.Sprintf("\nfunc F%d() {\n\t// %s\n}\n", n, marker)
	case 4:
		return fmt.Sprintf("\ntype T%d struct {\n\t// %s\n\tA int\n}\n", n, marker)
	case 5:
		return fmt.Sprintf("\n//%s\nvar V%d = 1 // %s\n", marker, n, marker)
	case 6:
		return fmt.Sprintf("\n/* %s */\n", marker)
	case 7:
		return fmt.Sprintf("\n// text\n// %s\n// more text\n", marker)
	}
	return "\n// " + marker + "\n"
}

func webhookMutantMarker(random *rand.Rand) string {
	if random.IntN(8) == 0 {
		return "+kubebuilder:webhookconfiguration" + pick(random, "", ":mutating=true", ":mutating=false,name=mine", ":name=x", ":mutating=true,name=\"a b\"", ":mutating=true,nam=x", "=true", ":mutating=false,name=")
	}
	var list []string
	for _, name := range required {
		list = append(list, name+"="+arguments[name][0])
	}
	for range random.IntN(3) {
		list = append(list, randomArgument(random))
	}
	for range random.IntN(4) {
		list = mutate(random, list)
	}
	name := "+kubebuilder:webhook"
	if random.IntN(30) == 0 {
		name = pick(random, "+kubebuilder:webhooks", "+kubebuilder:Webhook", " +kubebuilder:webhook", "+ kubebuilder:webhook", "+kubebuilder:webhook:", "kubebuilder:webhook", "+kubebuilder:webhook:v1")
	}
	return name + ":" + strings.Join(list, pick(random, ",", ",", ",", ",", ",", ",", ", ", " ,"))
}

// mutate changes one thing about the arguments.
func mutate(random *rand.Rand, list []string) []string {
	if len(list) == 0 {
		return list
	}
	i := random.IntN(len(list))
	switch random.IntN(9) {
	case 0:
		return append(list[:i:i], list[i+1:]...)
	case 1:
		return append(list, list[i])
	case 2:
		random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	case 3:
		list[i] = misspell(random, list[i])
	case 4, 5, 6:
		name, _, _ := strings.Cut(list[i], "=")
		if values := arguments[name]; len(values) > 0 {
			list[i] = name + "=" + pick(random, values...)
		}
	case 7:
		return append(list, "patch=`"+pick(random, patches...)+"`")
	case 8:
		return append(list, randomArgument(random))
	}
	return list
}

// misspell loses, doubles or swaps a character.
func misspell(random *rand.Rand, text string) string {
	if text == "" {
		return text
	}
	i := random.IntN(len(text))
	switch random.IntN(3) {
	case 0:
		return text[:i] + text[i+1:]
	case 1:
		return text[:i] + text[i:i+1] + text[i:]
	}
	return text[:i] + pick(random, ";", ",", "{", "}", `"`, "`", "=", ":", " ", "#", "-", "é") + text[i:]
}

// argumentNames keeps random choices the same from run to run.
var argumentNames = func() []string {
	names := append([]string{"matchPolicy", "timeoutSeconds", "url", "serviceName", "serviceNamespace", "servicePort", "webhookVersions", "reinvocationPolicy", "patch"}, required...)
	return append(names, "verb", "Name", "operations", "names", "", "time outSeconds", "é", "mutating=")
}()

func randomArgument(random *rand.Rand) string {
	name := argumentNames[random.IntN(len(argumentNames)-random.IntN(2)*8)]
	return name + "=" + pick(random, arguments[name]...)
}

func pick(random *rand.Rand, from ...string) string { return from[random.IntN(len(from))] }
