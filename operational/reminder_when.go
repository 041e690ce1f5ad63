package operational

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/lazyregexp"
)

// morning is the hour of a day for which no time is named.
const morning = 9

// ParseWhen reads a time as people say it: "tomorrow at 9", "in 2 hours", "friday 17:30", "2026-12-24 18:00", "noon". It is
// a time of now's zone. A day without a time is its morning, a time without a day the next that comes, and a day of the
// week the next one after today. What lies behind now, or more than ten years ahead, is refused, as is what it cannot read.
func ParseWhen(text string, now time.Time) (time.Time, error) {
	at, err := readWhen(text, now)
	if err != nil {
		return time.Time{}, err
	}
	return at, ahead(at, now)
}

// ParseReminder reads a reminder as people say it: "me tomorrow at 9 to look at the backups", "call Ann in 2 hours". Its time
// stands at its end or at its beginning, in as many words as make one; a number alone is none.
func ParseReminder(text string, now time.Time) (task string, at time.Time, err error) {
	const mostWhenWords = 8 // "on the 24th of december at 5 pm" has eight
	words := strings.Fields(text)
	if len(words) > 0 && strings.EqualFold(words[0], "me") {
		words = words[1:]
	}
	for size := min(len(words), mostWhenWords); size > 0; size-- {
		end := len(words) - size
		for _, part := range [...]struct{ when, task []string }{{words[end:], words[:end]}, {words[:size], words[size:]}} {
			when := strings.TrimRight(strings.Join(part.when, " "), ".:;!")
			if at, err = readWhen(when, now); err != nil || strings.Trim(when, "0123456789") == "" {
				continue
			}
			if len(part.task) > 0 && (part.task[0] == "to" || part.task[0] == "that") {
				part.task = part.task[1:]
			}
			if task := strings.Join(part.task, " "); !strings.ContainsAny(when, "0123456789") && clockLike.MatchString(task) {
				return "", time.Time{}, whenRefused("has " + strconv.Quote(few(strings.TrimSpace(clockLike.Compiled().FindString(task)))) + " beside " + strconv.Quote(few(when)) + ", which is no time of a day")
			}
			if len(part.task) == 0 {
				return "", time.Time{}, errs.InvalidField("task", "has no task: %s is a time alone", strconv.Quote(few(when)))
			}
			return strings.Join(part.task, " "), at, ahead(at, now)
		}
	}
	return "", time.Time{}, whenRefused("names no time")
}

// again is how people say that something comes again, and of how often.
var (
	again = lazyregexp.New(`(?i)(?:^|\s)(?:(?P<word>` + adverbs + `)|(?:every|each|once (?:a|an|per|every|each)) (?:(?P<count>` + counts + `) )?(?P<unit>` + someUnit + `)s?|` +
		`(?:every|each) (?:(?P<nth>other|second|2nd) )?(?:the )?(?P<days>` + someDays + `)|(?:on )?(?P<plural>` + ofWeek + `days(?:(?:, and |, |/| and | & )` + ofWeek + `days)*)|on (?P<week>weekday|workday|weekend)s|` +
		`(?:every|each) (?:the )?(?P<date>\d{1,2})(?:st|nd|rd|th)(?: day)?(?: of (?:the|every|each) month)?|on (?:the )?(?P<of>\d{1,2})(?:st|nd|rd|th)(?: day)? of (?:every|each) month)(?:[.,:;]|\s|$)`)
	comes = lazyregexp.New(`(?i)(?:^|\s)(?:every|each) (?:(?:[\d.]+|few|couple of|last|first|\w+(?:th|rd|nd|st)?) )?(?:second|minute|hour|day|night|week|month|quarter|year|fortnight|` + aDay + `)s?\b`)
	// oddly is how often something comes that no expression says.
	oddly = lazyregexp.New(`(?i)(?:^|\s)(?:(?:twice|(?:\d+|two|three|four|five|six|several|many) times|\d+x) (?:an? |per |each |every )?(?:minute|hour|day|week|month|year|daily|weekly|monthly)|` +
		`(?:first|last|second|third|fourth) (?:of|\w+ (?:of|in)) (?:the|each|every) month)\b`)
	// ofMonth is the day of the month, or a date of the year, behind "every month" and "every year".
	ofMonth = lazyregexp.New(`(?i)(?:^|\s)on (?:the )?(?:(\d{1,2})(?:st|nd|rd|th)|` + someDate + `)(?:[.,:;]|\s|$)`)
	dates   = lazyregexp.New(`(?i)^` + someDate + `(?: (\d{4}))?$`)
	// clockLike ends a text that names a time of day, whether there is such a time or not, or is all of it.
	clockLike = lazyregexp.New(`(?i)(?:^|\s)(?:at \d[\d:.]*(?: ?[ap]\.?m\.?)?|\d{1,2}:\d\d(?: ?[ap]m)?)[.,:;!]?$|^(?:at \d[\d:.]*|\d{1,2}:\d\d)(?: ?[ap]m)?(?:\s|$)`)
)

const (
	ofWeek   = `(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)`
	aDay     = ofWeek + `(?:days?)?\b`
	someDays = aDay + `(?:(?:, and |, |/| and | & )` + aDay + `)*`
	aMonth   = `(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t|tember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)`
	someDate = `(?:(?:the )?(\d{1,2})(?:st|nd|rd|th)? (?:of )?(` + aMonth + `)|(` + aMonth + `) (?:the )?(\d{1,2})(?:st|nd|rd|th)?)`
	adverbs  = `hourly|daily|nightly|weekly|biweekly|fortnightly|monthly|quarterly|yearly|annually`
	counts   = `\d+(?:st|nd|rd|th)?|other|second|third|fourth|two|three|four|five|six|ten|twelve`
	someUnit = `minute|min|hour|day|weekday|workday|weekend|week|fortnight|month|quarter|year|morning|noon|afternoon|evening|night|midnight`
)

// units are those that an adverb stands for, and several of another.
var units = map[string]string{
	"hourly": "1 hour", "daily": "1 day", "nightly": "1 night", "weekly": "1 week", "biweekly": "2 week", "fortnightly": "2 week", "fortnight": "2 week", "monthly": "1 month",
	"quarterly": "3 month", "quarter": "3 month", "yearly": "1 year", "annually": "1 year", "min": "1 minute",
}

// countOf are the counts that are no digits.
var countOf = map[string]int{
	"": 1, "other": 2, "second": 2, "two": 2, "third": 3, "three": 3, "fourth": 4, "four": 4, "five": 5, "six": 6, "ten": 10, "twelve": 12,
}

// hoursOf are the hours of the parts of a day for which no time is named.
var hoursOf = map[string]int{"noon": 12, "afternoon": 15, "evening": 18, "night": 20, "midnight": 0}

// ParseRecurring is ParseReminder of one that may come again: "every day", "weekly", "every monday and thursday", "on fridays", "every morning", "every
// 15 minutes", "every month on the 15th", "every 2 weeks on friday", "every other day"; without a time, in the morning. Then at is the first time, and
// expression says all its times, in the zone; it is empty if it comes once. What comes again in a way that no expression says is refused: it is not taken for once.
func ParseRecurring(text string, now time.Time, zone *time.Location) (task string, at time.Time, expression string, err error) {
	text = strings.Join(strings.Fields(text), " ")
	often, rest, err := readAgain(text)
	switch {
	case err != nil:
		return "", time.Time{}, "", err
	case often.count == 0: // once
		task, at, err = ParseReminder(text, now)
		return task, at, "", err
	case often.unit == "minute" || often.unit == "hour":
		every := strconv.Itoa(often.count) + often.unit
		span, err := parseSpan("at", every)
		if err != nil {
			return "", time.Time{}, "", err
		}
		if task, at, err = ParseReminder(rest, now); err != nil {
			task, _, err = ParseReminder(rest+" at 9", now)
			at = now.Add(span).Truncate(time.Second)
		}
		return task, at, "@every " + every, err
	}
	day, month, local := cmp.Or(often.date, "*"), "*", now.In(zone)
	if on := ofMonth.Compiled().FindStringSubmatchIndex(rest); on != nil && (often.unit == "month" || often.unit == "year") {
		said := strings.TrimPrefix(strings.ToLower(strings.Trim(rest[on[0]:on[1]], " .,:;")), "on ")
		if date, ok := dateOf(strings.TrimPrefix(said, "the "), local); ok {
			local = date
		} else {
			day = strings.Trim(said, "the onsrd")
		}
		rest = rest[:on[0]] + " " + rest[on[1]:]
	}
	hour, named := hoursOf[often.unit]
	if !named {
		hour = morning
	}
	task, at, err = ParseReminder(rest, now)
	if err != nil && !clockLike.MatchString(rest) {
		task, at, err = ParseReminder(rest+" at "+strconv.Itoa(hour), now)
	}
	if err != nil {
		return "", time.Time{}, "", err
	}
	at = at.In(zone)
	switch {
	case often.unit == "year":
		day, month = strconv.Itoa(local.Day()), strconv.Itoa(int(local.Month()))
	case often.unit == "month" && day == "*":
		day = strconv.Itoa(local.Day())
	}
	expression = fmt.Sprintf("%d %d %s %s %s", at.Minute(), at.Hour(), day, month, often.weekdays(at))
	recurrence, err := ParseRecurrence("at", expression, "")
	if err != nil {
		return "", time.Time{}, "", err
	}
	recurrence.zone, recurrence.fields.Location = zone, zone
	if often.count == 1 || often.unit == "month" || often.unit == "year" {
		at, _ = recurrence.Next(now)
		at = at.In(zone)
	}
	if often.count > 1 {
		expression = fmt.Sprintf("@every %d%s from %s", often.count, often.unit, at.Format(anchorForm))
	}
	return task, at, expression, nil
}

// oftenness is how often something comes again, as it was said.
type oftenness struct {
	count int    // 0: it comes once
	unit  string // such as "week", "weekday" or "morning"; empty: it comes on days of the week or of the month
	days  string // of the week
	date  string // of the month
}

// readAgain reads how often something comes again, and returns the other words.
func readAgain(text string) (often oftenness, rest string, err error) {
	refused := func(why string) (oftenness, string, error) {
		return oftenness{}, "", errs.InvalidField("at", "%s; write for instance \"every day at 9\", \"every monday and thursday\", \"every 12 hours\", \"every 2 weeks on friday\", \"every month on the 15th\" or \"every 3 months\", or give cron:0 9,17 * * MON-FRI", why)
	}
	m := again.Compiled().FindStringSubmatchIndex(text)
	if oddly.MatchString(text) || m == nil && comes.MatchString(text) {
		return refused("comes again in a way that is not understood")
	}
	if m == nil {
		return often, text, nil
	}
	part := func(name string) string {
		i := 2 * again.Compiled().SubexpIndex(name)
		if m[i] < 0 {
			return ""
		}
		return strings.ToLower(text[m[i]:m[i+1]])
	}
	rest = strings.TrimSpace(text[:m[0]] + " " + text[m[1]:])
	often = oftenness{unit: cmp.Or(part("unit"), part("word"), part("week")), days: cmp.Or(part("days"), part("plural")), date: cmp.Or(part("date"), part("of"))}
	if comes.MatchString(rest) || again.MatchString(rest) && often.unit != "week" {
		return refused("says twice how it comes again")
	}
	said, known := cmp.Or(part("nth"), part("count")), false
	if often.count, known = countOf[said]; !known {
		often.count, _ = strconv.Atoi(strings.TrimRight(said, "stndrh"))
	}
	if of := units[often.unit]; of != "" {
		times := 1
		_, _ = fmt.Sscan(of, &times, &often.unit)
		often.count *= times
	}
	if often.count < 1 || often.count > maxEvery {
		return refused("comes again after " + strconv.Quote(said) + ", which is no count")
	}
	if part("nth") != "" && !strings.ContainsAny(often.days, ",/& ") {
		often.unit, rest = "week", rest+" "+often.days
	}
	if often.count > 1 && !slices.Contains([]string{"minute", "hour", "day", "week", "month", "year"}, often.unit) {
		return refused("comes again in a way that no reminder can")
	}
	if often.unit == "week" { // "every 2 weeks on mondays"
		rest = pluralDays.Compiled().ReplaceAllString(rest, "$1")
	}
	return often, rest, nil
}

// weekdays are the days of the week for a cron expression, of what comes first at a time.
func (o oftenness) weekdays(at time.Time) string {
	switch {
	case o.unit == "week":
		return strings.ToUpper(at.Weekday().String()[:3])
	case o.unit == "weekday" || o.unit == "workday":
		return "MON-FRI"
	case o.unit == "weekend":
		return "SAT,SUN"
	case o.days != "":
		return strings.ToUpper(strings.Join(lazyDays.FindAllString(o.days, -1), ","))
	}
	return "*"
}

// pluralDays finds a day's name that ends in s.
var pluralDays = lazyregexp.New(`(?i)\b(` + ofWeek + `day)s\b`)

// lazyDays finds the beginnings of days' names.
var lazyDays = lazyregexp.New(`mon|tue|wed|thu|fri|sat|sun`)

// wordAfter is the word behind one; empty: there is none.
func wordAfter(words []string, i int) string {
	if i+1 < len(words) {
		return words[i+1]
	}
	return ""
}

// dateAt reads the longest date that words begin with, of so many words; 0: they begin with none.
func dateAt(words []string, now time.Time) (at time.Time, size int) {
	switch strings.Join(words[:min(len(words), 2)], " ") {
	case "next week":
		return now.AddDate(0, 0, 7), 2
	case "next month":
		return now.AddDate(0, 1, 0), 2
	}
	for size = min(len(words), 4); size > 1; size-- {
		if at, ok := dateOf(strings.Join(words[:size], " "), now); ok {
			return at, size
		}
	}
	return at, 0
}

// dateOf reads a date of a year, such as "24 december": the next that comes, where no year is named.
func dateOf(text string, now time.Time) (time.Time, bool) {
	m := dates.FindStringSubmatch(text)
	if m == nil {
		return time.Time{}, false
	}
	named, number := m[2]+m[3], m[1]+m[4]
	day, _ := strconv.Atoi(number)
	month := time.January
	for ; month < time.December && !strings.EqualFold(month.String()[:3], named[:3]); month++ {
	}
	year, _ := strconv.Atoi(m[5])
	at := time.Date(cmp.Or(year, now.Year()), month, day, 0, 0, 0, 0, now.Location())
	if year == 0 && at.Before(time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())) {
		at = at.AddDate(1, 0, 0)
	}
	return at, at.Day() == day
}

func whenRefused(why string) error {
	return errs.InvalidField("at", "%s; write for instance \"tomorrow at 9\", \"in 2 hours\", \"friday 17:30\" or \"2026-12-24 18:00\"", why)
}

// readWhen is ParseWhen, also of what lies behind now or far ahead.
func readWhen(text string, now time.Time) (time.Time, error) {
	refused := func(why string) (time.Time, error) { return time.Time{}, whenRefused(why) }
	if len(text) > maxSpan {
		return refused("is too long")
	}
	for _, form := range []string{time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04"} {
		if at, err := time.ParseInLocation(form, strings.TrimSpace(text), now.Location()); err == nil {
			return at, nil
		}
	}
	words := strings.Fields(strings.ToLower(strings.ReplaceAll(text, ",", " ")))
	if len(words) > 0 && (words[0] == "in" || strings.HasPrefix(words[0], "+")) {
		span, err := parseSpan("at", numbers.Replace(strings.TrimPrefix(strings.Join(words, " "), "in ")+" "))
		if err != nil {
			return time.Time{}, err
		}
		return now.Add(span), nil
	}
	const (
		evening = 20 // the hour of a night for which no time is named
		dawn    = 5  // where a night ends: "tonight at 1" lies behind midnight, "tonight at 9" before it
	)
	day, dayNamed, tonight, hour, minute, timed, am := now, false, false, morning, 0, false, false
	for i := 0; i < len(words); i++ {
		word := words[i]
		if word == "at" || word == "on" || word == "the" || word == "next" && !slices.Contains([]string{"week", "month"}, wordAfter(words, i)) {
			continue
		}
		if to, size := dateAt(words[i:], now); size > 0 && !dayNamed {
			day, dayNamed = to, true
			i += size - 1
			continue
		}
		if to, ok := dayOf(word, now); ok && !dayNamed {
			day, dayNamed, tonight = to, true, word == "tonight"
			continue
		}
		if i+1 < len(words) && (words[i+1] == "am" || words[i+1] == "pm") {
			word += words[i+1]
			i++
		}
		h, m, ok := clockOf(word)
		if !ok || timed {
			return refused("has " + strconv.Quote(few(words[i])) + ", which is no day and no time")
		}
		hour, minute, timed, am = h, m, true, strings.HasSuffix(word, "am")
	}
	if !dayNamed && !timed {
		return refused("names no time")
	}
	switch {
	case tonight && !timed:
		hour = evening
	case tonight && !am && hour >= dawn && hour < 12:
		hour += 12
	case tonight && !am && hour == 12: // midnight, which is the coming day's
		hour = 0
	}
	at := time.Date(day.Year(), day.Month(), day.Day(), hour, minute, 0, 0, now.Location())
	if (!dayNamed || tonight && hour < dawn) && !at.After(now) {
		at = at.AddDate(0, 0, 1)
	}
	return at, nil
}

// numbers has the numbers that people write out as words in digits.
var numbers = strings.NewReplacer("half an hour ", "30min ", "a couple of ", "2 ", "an ", "1 ", "a ", "1 ", "one ", "1 ", "two ", "2 ", "three ", "3 ", "four ", "4 ", "five ", "5 ",
	"six ", "6 ", "seven ", "7 ", "eight ", "8 ", "nine ", "9 ", "ten ", "10 ")

// ahead refuses a time that does not lie ahead.
func ahead(at, now time.Time) error {
	switch {
	case !at.After(now):
		return whenRefused("lies in the past: " + at.Format(time.DateTime))
	case at.After(now.Add(MaxReminderAhead)):
		return whenRefused("lies more than ten years ahead")
	}
	return nil
}

// dayOf reads a day's name or date.
func dayOf(word string, now time.Time) (time.Time, bool) {
	switch word {
	case "today", "tonight":
		return now, true
	case "tomorrow":
		return now.AddDate(0, 0, 1), true
	}
	for d := time.Sunday; d <= time.Saturday; d++ {
		if name := strings.ToLower(d.String()); word == name || word == name[:3] {
			return now.AddDate(0, 0, (int(d)-int(now.Weekday())+6)%7+1), true
		}
	}
	at, err := time.ParseInLocation(time.DateOnly, word, now.Location())
	return at, err == nil
}

// clockOf reads a time of day: 9, 9am, 9:30, 17:30, noon or midnight.
func clockOf(word string) (hour, minute int, ok bool) {
	switch word {
	case "noon":
		return 12, 0, true
	case "midnight":
		return 0, 0, true
	}
	for _, form := range []string{"15:04", "15:04:05", "3:04pm", "3pm", "15"} {
		if at, err := time.Parse(form, word); err == nil {
			return at.Hour(), at.Minute(), true
		}
	}
	return 0, 0, false
}
