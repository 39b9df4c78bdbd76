// Command driver drives go-zookeeper's lock: it obeys the protocol of tests/conformance, as far as that library can.
package main

import (
	"bufio"
	"os"
)

func main() {
	driver := newDriver()
	threads := make(map[string]chan request)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		asking, err := parse(lines.Text())
		if err != nil {
			panic(err)
		}
		if asking.verb == "exit" {
			break
		}
		name := asking.fields["thread"]
		if name == "" {
			go driver.obey(asking)
			continue
		}
		if threads[name] == nil {
			threads[name] = make(chan request, 1024)
			go func(inbox chan request) {
				for asking := range inbox {
					driver.obey(asking)
				}
			}(threads[name])
		}
		threads[name] <- asking
	}
	driver.exit()
}
