package episode

const EventExperiencesSwept = "experience.swept" // Data is a experience.SweptEvent
