package render

// What stands before and behind where types are found, in the description of query.
const beforeTypes = `Ask the entities a question in WQL, a SELECT over one or more types. A row is an entity with its name and the fields that the query mentions. `

const language = `
SELECT x FROM Type[, Type] x [WHERE cond] [ORDER BY field [DESC], …] [LIMIT n [OFFSET n]]; or SELECT COUNT(*), SUM(x.f), AVG, MIN or MAX in the place of x.
cond: = != < <= > >=, IN (…), CONTAINS, LIKE 'a%', STARTS WITH, BETWEEN a AND b, IS [NOT] NULL, MATCHES 'words', joined with AND, OR, NOT and (). A path follows references: x.team.lead.name. Every entity has name, id, type, createdAt, updatedAt. Tasks of notes are rows of Task, or vault.Task where a type has that name: name, done, cancelled, due, scheduled, start, priority, tags, note, heading, line. Dates: '2026-01-31', today() - 2w. {this} is the entity of the argument this.
Examples:
SELECT p FROM Person p WHERE p.team.name = 'Core' ORDER BY p.started DESC
SELECT p FROM Project p WHERE p.status IN ('active', 'paused') AND p.due < today() + 2w
SELECT COUNT(*) FROM Person p WHERE p.team IS NULL
SELECT m FROM Meeting m WHERE m.attendees CONTAINS {this} LIMIT 10
SELECT p FROM Person p WHERE p.role LIKE '%engineer%' AND NOT p.name STARTS WITH 'A'`
