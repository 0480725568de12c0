// Copyright 2026 The cronjob authors
// SPDX-License-Identifier: Apache-2.0

package v2

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"

	batchv1 "tutorial.kubebuilder.io/project/api/v1"
)

// An annotation keeps a schedule that the object's own version cannot hold. An object of v2 keeps a text that is not
// five words with one space between them ("@hourly", "@every 90s"). An object of v1 keeps fields that say "*" where
// they could be left out. An annotation counts as long as the schedule beside it says what it said when the annotation
// was written: a changed schedule is believed. Conversion alone sets and removes annotations. A schedule without fields
// whose annotation was lost becomes one that never comes due.
const (
	// V1ScheduleAnnotation holds, in objects of v2, the schedule of v1.
	V1ScheduleAnnotation = "batch.tutorial.kubebuilder.io/v1-schedule"

	// V2ScheduleAnnotation holds, in objects of v1, the schedule of v2 in JSON.
	V2ScheduleAnnotation = "batch.tutorial.kubebuilder.io/v2-schedule"
)

// every is the field that stands for every value.
const every = "*"

// shorthands are the names for which cron knows five fields. There are none for "@every".
var shorthands = map[string]string{
	"@yearly":   "0 0 1 1 *",
	"@annually": "0 0 1 1 *",
	"@monthly":  "0 0 1 * *",
	"@weekly":   "0 0 * * 0",
	"@daily":    "0 0 * * *",
	"@midnight": "0 0 * * *",
	"@hourly":   "0 * * * *",
}

// text returns the schedule as v1 has it, and the annotations of the object of v1.
func (s CronSchedule) text(annotations map[string]string) (string, map[string]string) {
	if kept, ok := annotations[V1ScheduleAnnotation]; ok && equality.Semantic.DeepEqual(split(kept), s) {
		return kept, replaced(annotations, "", "")
	}
	joined := s.join()
	if equality.Semantic.DeepEqual(split(joined), s) {
		return joined, replaced(annotations, "", "")
	}
	return joined, replaced(annotations, V2ScheduleAnnotation, s.encode())
}

// fields returns the schedule of an object of v1 as v2 has it, and the annotations of the object of v2.
func fields(text string, annotations map[string]string) (CronSchedule, map[string]string) {
	if kept, ok := decode(annotations[V2ScheduleAnnotation]); ok && kept.join() == text {
		return kept, replaced(annotations, "", "")
	}
	s := split(text)
	if s.join() == text {
		return s, replaced(annotations, "", "")
	}
	return s, replaced(annotations, V1ScheduleAnnotation, text)
}

// join writes the five fields one after the other. Without any it is no schedule.
func (s CronSchedule) join() string {
	if s == (CronSchedule{}) {
		return batchv1.NoSchedule
	}
	var words []string
	for _, field := range s.list() {
		if *field == nil {
			words = append(words, every)
		} else {
			words = append(words, string(**field))
		}
	}
	return strings.Join(words, " ")
}

// split reads five fields. A text that has not five leaves all out; every minute is minute: "*".
func split(text string) CronSchedule {
	if five, ok := shorthands[strings.ToLower(text)]; ok {
		text = five
	}
	var s CronSchedule
	words := strings.Fields(text)
	if len(words) != len(s.list()) {
		return s
	}
	for i, field := range s.list() {
		if words[i] != every {
			*field = new(CronField(words[i]))
		}
	}
	if s == (CronSchedule{}) {
		s.Minute = new(CronField(every))
	}
	return s
}

// list has the fields in their order in a cron expression.
func (s *CronSchedule) list() []**CronField {
	return []**CronField{&s.Minute, &s.Hour, &s.DayOfMonth, &s.Month, &s.DayOfWeek}
}

func (s CronSchedule) encode() string {
	data, _ := json.Marshal(s) // of strings alone: cannot fail
	return string(data)
}

func decode(data string) (CronSchedule, bool) {
	var s CronSchedule
	err := json.Unmarshal([]byte(data), &s)
	return s, err == nil
}

// replaced returns a copy of the annotations of which conversion's own are removed, apart from the one that
// is given.
func replaced(annotations map[string]string, key, value string) map[string]string {
	annotations = maps.Clone(annotations)
	maps.DeleteFunc(annotations, func(k, _ string) bool {
		return slices.Contains([]string{V1ScheduleAnnotation, V2ScheduleAnnotation}, k)
	})
	if key == "" {
		return annotations
	}
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[key] = value
	return annotations
}
