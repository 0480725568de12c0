package ship

import "math/rand/v2"

// randomSpec is one of the kind in testdata/policies.go.txt. Each field is there or not.
func randomSpec(r *rand.Rand) map[string]any {
	spec := map[string]any{}
	for name, value := range map[string]func(*rand.Rand) any{
		"min": number, "max": number, "ports": ports, "labels": texts, "parts": parts, "set": parts,
		"na-me": text, "namespace": text, "port": port, "deep": deep, "ratio": number, "any": anyOf(text, number),
		"maybe": anyOf(text, null),
	} {
		if r.IntN(3) > 0 {
			spec[name] = value(r)
		}
	}
	if set, ok := spec["set"].([]any); ok && len(set) == 2 && set[0] == set[1] {
		spec["set"] = set[:1]
	}
	return spec
}

func number(r *rand.Rand) any { return int64(r.IntN(4)) }

func null(*rand.Rand) any { return nil }

func text(r *rand.Rand) any {
	words := []string{"good", "fine", "good and well", "bad", "x", ""}
	return words[min(r.IntN(20)/3, len(words)-1)]
}

func anyOf(of ...func(*rand.Rand) any) func(*rand.Rand) any {
	return func(r *rand.Rand) any { return of[r.IntN(len(of))](r) }
}

// parts are up to two texts.
func parts(r *rand.Rand) any {
	list := []any{}
	for range r.IntN(3) {
		list = append(list, text(r))
	}
	return list
}

func texts(r *rand.Rand) any {
	all := map[string]any{}
	for _, key := range []string{"a", "b-c", "in"} {
		if r.IntN(2) > 0 {
			all[key] = text(r)
		}
	}
	return all
}

// ports are up to two with different names.
func ports(r *rand.Rand) any {
	list := []any{}
	for _, name := range []string{"a", "b"} {
		if r.IntN(3) > 0 {
			p := port(r).(map[string]any)
			p["name"] = name
			list = append(list, p)
		}
	}
	return list
}

func port(r *rand.Rand) any {
	p := map[string]any{"name": "one", "number": int64(r.IntN(2))}
	if r.IntN(2) > 0 {
		p["protocol"] = []string{"tcp", "x"}[r.IntN(8)/7]
	}
	return p
}

// deep is a map of lists of maps.
func deep(r *rand.Rand) any {
	all := map[string]any{}
	for _, key := range []string{"k", "l"} {
		if r.IntN(2) > 0 {
			all[key] = []any{texts(r), texts(r)}[:r.IntN(3)]
		}
	}
	return all
}
