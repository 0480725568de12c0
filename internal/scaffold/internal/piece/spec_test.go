package piece

import "testing"

// TestSpec: specs are put once, are taken as they were put, and changed ones stay with their line.
func TestSpec(t *testing.T) {
	const before = "package v1\n"
	spec := Spec{Title: "V", Code: "var _ = Describe(\"V\", func() {\n})\n"}
	once, err := spec.Insert("v_test.go", []byte(before))
	if err != nil {
		t.Fatal(err)
	}
	if twice, err := spec.Insert("v_test.go", once); err != nil || string(twice) != string(once) {
		t.Errorf("a second time, %v:\n%s", err, twice)
	}
	if after, line := spec.Remove(once); line != 0 || string(after) != before {
		t.Errorf("line %d of what is left:\n%s", line, after)
	}
	if _, line := spec.Remove([]byte("package v1\n\nvar _ = Describe(\"V\", mine)\n")); line != 3 {
		t.Errorf("changed specs are found in line %d", line)
	}
}
