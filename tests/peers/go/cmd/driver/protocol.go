package main

import (
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
)

// A request of the runner: `id verb key=value …`.
type request struct {
	id, verb string
	fields   map[string]string
}

type field struct {
	key   string
	value any
}

func parse(line string) (request, error) {
	words := strings.Fields(line)
	if len(words) < 2 {
		return request{}, fmt.Errorf("%q has no id or no verb", line)
	}
	asking := request{id: words[0], verb: words[1], fields: make(map[string]string)}
	for _, word := range words[2:] {
		key, value, _ := strings.Cut(word, "=")
		text, err := url.PathUnescape(value)
		if err != nil {
			return request{}, err
		}
		asking.fields[key] = text
	}
	return asking, nil
}

var output sync.Mutex

// Writes one line: several goroutines do.
func tell(id, word string, fields ...field) {
	var line strings.Builder
	line.WriteString(id + " " + word)
	for _, one := range fields {
		line.WriteString(" " + one.key + "=" + url.PathEscape(fmt.Sprint(one.value)))
	}
	line.WriteByte('\n')
	output.Lock()
	defer output.Unlock()
	// Without a reader the runner is gone, and the end of input ends the driver.
	_, _ = os.Stdout.WriteString(line.String())
}
