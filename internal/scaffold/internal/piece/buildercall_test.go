package piece

import "testing"

func TestWrappedArgument(t *testing.T) {
	w := WrappedArgument{Method: "Complete", Argument: "r", Around: "manager.Traced"}
	for _, test := range []struct {
		name, src, put string
		line           int // where Remove finds it in another form
	}{
		{"plain", "x.\n\t\tComplete(r)\n", "x.\n\t\tComplete(manager.Traced(r))\n", 0},
		{"twice", "a.Complete(r); b.Complete(r)", "a.Complete(manager.Traced(r)); b.Complete(manager.Traced(r))", 0},
		{"another argument", "Complete(other(r))", "Complete(other(r))", 0},
		{"another method", "InComplete(r)", "InComplete(r)", 0},
		{"there in another form", "\n\nComplete(manager.Traced(my(r)))", "\n\nComplete(manager.Traced(my(r)))", 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := w.Insert("file", []byte(test.src))
			if err != nil || string(got) != test.put {
				t.Fatalf("put: %q, %v", got, err)
			}
			if again, _ := w.Insert("file", got); string(again) != test.put {
				t.Errorf("a second time: %q", again)
			}
			if back, line := w.Remove(got); line != test.line || string(back) != test.src {
				t.Errorf("taken: %q, line %d", back, line)
			}
		})
	}
}
