package apply

import (
	"slices"
	"strings"
)

// jsonTag is what the tag of a field says.
type jsonTag struct {
	name              string
	inline, omitempty bool
}

// jsonTagOf reads the tag of a field; without one that counts it is not ok.
func (f Form) jsonTagOf(m *member) (t jsonTag, ok bool) {
	text, found := m.tag.Lookup("json")
	if !found || text == "-" || text == "" && !f.Inlined {
		return jsonTag{}, false
	}
	options := strings.Split(text, ",")
	t.name = options[0]
	t.omitempty = slices.Contains(options[1:], "omitempty")
	t.inline = slices.Contains(options[1:], "inline")
	if f.Inlined {
		t.inline = m.embedded && t.name == ""
	}
	if t.name == "" {
		t.name = m.name
	}
	return t, true
}

// text is the tag of the configuration's field.
func (f Form) text(t jsonTag) string {
	text := ""
	if !t.inline {
		text = t.name
	}
	if t.omitempty {
		text += ",omitempty"
	}
	if t.inline && !f.Inlined {
		text += ",inline"
	}
	return text
}

// clientTags are what comments say about the client of a type.
type clientTags struct {
	asked         bool
	nonNamespaced bool
	noStatus      bool
	applied       bool // the client can apply objects
	limited       bool // to some verbs
	subresources  []string
}

const clientPrefix = "genclient"

// readClientTags reads the lines of comments.
func readClientTags(lines []string) (clientTags, error) {
	t := clientTags{applied: true}
	for _, line := range lines {
		text, isTag := strings.CutPrefix(strings.Trim(line, " "), "+")
		key, value, _ := strings.Cut(text, "=")
		if !isTag || !strings.HasPrefix(key, clientPrefix) {
			continue
		}
		if err := t.read(strings.TrimPrefix(key, clientPrefix), value); err != nil {
			return t, err
		}
	}
	slices.Sort(t.subresources)
	t.subresources = slices.Compact(t.subresources)
	return t, nil
}

func (t *clientTags) read(key, value string) error {
	switch key {
	case "":
		t.asked = true
		if value != "" {
			return unsupported("+genclient=%s", value)
		}
	case ":nonNamespaced":
		t.nonNamespaced = true
	case ":noStatus":
		t.noStatus = true
	case ":noVerbs":
	case ":readonly", ":onlyVerbs", ":skipVerbs":
		return t.limit(key, strings.Split(value, ","))
	case ":method":
		return t.method(value)
	default:
		return unsupported("+%s%s", clientPrefix, key)
	}
	return nil
}

// limit reads which verbs the client has, or has not.
func (t *clientTags) limit(key string, verbs []string) error {
	if t.limited {
		return unsupported("several markers that limit the verbs of a client")
	}
	t.limited = true
	apply, applyStatus := slices.Contains(verbs, "apply"), slices.Contains(verbs, "applyStatus")
	switch key {
	case ":readonly":
		t.applied = false
	case ":onlyVerbs":
		t.applied = apply || applyStatus
	case ":skipVerbs":
		t.applied = !apply || !applyStatus
	}
	return nil
}

// method reads the description of one more method, of which the subresource matters here.
func (t *clientTags) method(text string) error {
	parts := strings.Split(text, ",")
	options := make(map[string]string)
	for _, part := range parts[1:] {
		key, value, found := strings.Cut(part, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if !found || value == "" || strings.Contains(value, "=") || !slices.Contains([]string{"verb", "subresource", "input", "result"}, key) {
			return unsupported("+genclient:method=%s", text)
		}
		options[key] = value
	}
	verb := options["verb"]
	takes := slices.Contains([]string{"create", "update"}, verb)
	gives := takes || slices.Contains([]string{"get", "list", "patch", "apply"}, verb)
	known := parts[0] != "" && verb != "" && !slices.Contains([]string{"updateStatus", "deleteCollection", "watch", "delete"}, verb)
	if !known || options["input"] != "" && !takes || options["result"] != "" && !gives {
		return unsupported("+genclient:method=%s", text)
	}
	if subresource := options["subresource"]; subresource != "" {
		if !isLowercase(subresource) {
			return unsupported("the subresource %s", subresource)
		}
		t.subresources = append(t.subresources, subresource)
	}
	return nil
}

func isLowercase(word string) bool {
	return !strings.ContainsFunc(word, func(r rune) bool { return r < 'a' || r > 'z' })
}

// tagValue is the value of the first tag of that name in lines.
func tagValue(lines []string, name string) (value string, found bool) {
	for _, line := range lines {
		text, isTag := strings.CutPrefix(strings.TrimLeft(line, " \t"), "+")
		key, value, _ := strings.Cut(text, "=")
		if isTag && key == name {
			return value, true
		}
	}
	return "", false
}
